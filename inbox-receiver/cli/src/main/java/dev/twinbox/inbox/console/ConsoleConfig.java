package dev.twinbox.inbox.console;

import dev.twinbox.config.SettingsReader;
import dev.twinbox.console.config.HttpAddress;
import dev.twinbox.console.config.HttpSettings;
import dev.twinbox.console.config.ProcessConfig;
import dev.twinbox.console.search.KafkaAccess;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of the console. The keys of Kafka are those of the application, so its file can be used.
 *
 * @param address where the console listens
 * @param kafka how topics and groups are read; null: no brokers are configured
 */
public record ConsoleConfig(HttpAddress address, @Nullable KafkaAccess kafka) {
    /** The settings, apart from those of Kafka. */
    public static final HttpSettings HTTP = HttpSettings.of(
            "twinbox.console.",
            "the API",
            "Nothing is encrypted: keep it off public networks.",
            8481,
            "Without any token, this host alone sees all but payloads, and nobody changes anything.");

    static final String KAFKA_PREFIX = "twinbox.inbox.kafka.";
    private static final String CLIENT_ID = "twinbox-console";

    /**
     * Reads a file, the environment and system properties. The later one of these wins.
     *
     * @param file properties in UTF-8; null: none
     * @throws IllegalArgumentException its message lists all that is wrong
     */
    public static ConsoleConfig read(
            @Nullable Path file, Map<String, String> environment, Map<String, String> systemProperties) {
        ProcessConfig process = ProcessConfig.of(file, environment, systemProperties);
        SettingsReader reader = process.reader();
        reader.read(HTTP.all());
        HTTP.refuseEqualTokens(reader);
        reader.refuseUnknown("twinbox.console.");
        Map<String, String> kafka = reader.readBelow(KAFKA_PREFIX, kafkaNames());
        String brokers = kafka.get(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG);
        if (brokers != null) {
            checkBrokers(brokers, reader);
        }
        process.throwIfWrong();
        HttpAddress address = new HttpAddress(HTTP.values(reader), HTTP);
        checkReach(address);
        return new ConsoleConfig(address, brokers == null ? null : access(kafka));
    }

    private static Set<String> kafkaNames() {
        Set<String> names = new TreeSet<>(ConsumerConfig.configNames());
        names.addAll(AdminClientConfig.configNames());
        return names;
    }

    private static void checkBrokers(String brokers, SettingsReader reader) {
        for (String broker : brokers.split(",", -1)) {
            try {
                if (Utils.getHost(broker.strip()) != null && Utils.getPort(broker.strip()) != null) {
                    continue;
                }
            } catch (ConfigException | NumberFormatException e) {
                // No port has the same remedy.
            }
            reader.report(
                    KAFKA_PREFIX + AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG,
                    "must be host:port, several separated by commas; \"" + broker.strip() + "\" is not");
        }
    }

    /** Whoever serves others wants tokens, and has to know that nothing is encrypted. */
    private static void checkReach(HttpAddress address) {
        if (address.isLoopback()) {
            return;
        }
        String host = HTTP.host().key() + " = \"" + address.http().host() + "\" is not loopback";
        if (!address.http().isInsecure()) {
            throw new IllegalArgumentException(host + ", and nothing is encrypted: put a proxy with TLS on this host "
                    + "before the console, or set " + HTTP.insecure().key() + "=true");
        }
        if (!address.http().hasToken()) {
            throw new IllegalArgumentException(host + ", so every call needs a token: set "
                    + HTTP.operatorToken().key() + " or " + HTTP.readerToken().key());
        }
    }

    private static KafkaAccess access(Map<String, String> kafka) {
        return new KafkaAccess(
                kafka,
                CLIENT_ID,
                "the principal of the console (" + KAFKA_PREFIX + "*)",
                refusal -> "Kafka refuses the login: " + refusal.getMessage() + "; check " + KAFKA_PREFIX
                        + "sasl.* and " + KAFKA_PREFIX + "ssl.*");
    }
}
