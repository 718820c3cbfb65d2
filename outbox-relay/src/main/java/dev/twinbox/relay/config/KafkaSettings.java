package dev.twinbox.relay.config;

import dev.twinbox.config.Secret;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigValue;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Utils;

/** Which of Kafka's producer settings an operator may choose, and what is wrong with chosen ones. */
public final class KafkaSettings {
    /** What Kafka's own names stand behind in the configuration. */
    public static final String PREFIX = "twinbox.relay.kafka.";

    /** Settings that hold the guarantees, and why. */
    static final Map<String, String> FIXED = Map.ofEntries(
            Map.entry(ProducerConfig.ACKS_CONFIG, "an event counts as sent when all in-sync replicas have it"),
            Map.entry(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "retries must neither repeat nor reorder"),
            Map.entry(
                    ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION,
                    "more than the broker remembers would reorder"),
            Map.entry(ProducerConfig.RETRIES_CONFIG, "a passing fault must not end an event's attempts"),
            Map.entry(
                    ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
                    "a batch that expires would break the order of its keys"),
            Map.entry(ProducerConfig.MAX_BLOCK_MS_CONFIG, "a send that gives up would break the order of its key"),
            Map.entry(ProducerConfig.TRANSACTIONAL_ID_CONFIG, "it is made of the relay's name, or not used"),
            Map.entry(
                    ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, "a minute is long enough for the relay's transactions"),
            Map.entry(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, "keys are UTF-8"),
            Map.entry(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, "payloads are sent as they are"),
            Map.entry(
                    ProducerConfig.PARTITIONER_CLASS_CONFIG,
                    "the relay has to know the partition of a key to keep its order and to work around one that stalls"),
            Map.entry(ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG, "events of one key belong into one partition"));

    private KafkaSettings() {}

    /** Names below {@link #PREFIX} that may be set. */
    static Set<String> names() {
        return ProducerConfig.configNames();
    }

    /**
     * What is wrong with the chosen settings; addresses have {@link #addresses a check of their own}.
     *
     * @param settings by Kafka's names
     * @return for each bad one a sentence without its name; values of secrets are not shown
     */
    static Map<String, String> problems(Map<String, String> settings) {
        Map<String, String> problems = new TreeMap<>();
        for (ConfigValue value : ProducerConfig.configDef().validate(withSerializers(settings))) {
            String name = value.name();
            String reason = FIXED.get(name);
            if (!settings.containsKey(name) || name.equals(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG)) {
                continue;
            }
            if (reason != null) {
                problems.put(name, "is the relay's own choice (" + reason + "): remove the key");
            } else if (!value.errorMessages().isEmpty()) {
                problems.put(
                        name,
                        Secret.isSecret(name)
                                ? "is refused by Kafka: correct it"
                                : value.errorMessages().get(0));
            }
        }
        return problems;
    }

    /** The value of {@code bootstrap.servers}, checked without asking the network. */
    static String addresses(String servers) {
        for (String address : servers.split(",", -1)) {
            Integer port = Utils.getPort(address.trim());
            if (Utils.getHost(address.trim()) == null || port == null || port < 1 || port > 65_535) {
                throw new IllegalArgumentException(
                        "must be host:port, several separated by commas; \"" + address.trim() + "\" is not");
            }
        }
        return servers;
    }

    /**
     * Builds a producer and closes it: key stores, JAAS lines and settings that do not go together show only then. Brokers are
     * not asked, and a host name that does not resolve may do so later.
     *
     * @throws RelayException with {@link ExitCode#USAGE}
     */
    public static void tryOut(Map<String, Object> settings) {
        try {
            new KafkaProducer<byte[], byte[]>(settings).close(Duration.ZERO);
        } catch (KafkaException e) {
            String reasons = reasons(e);
            if (!reasons.contains("No resolvable bootstrap urls")) {
                throw new RelayException(
                        ExitCode.USAGE,
                        "the Kafka client refuses its settings, correct them (" + PREFIX + "*): " + reasons,
                        e);
            }
        }
    }

    private static String reasons(Throwable thrown) {
        StringBuilder reasons = new StringBuilder(String.valueOf(thrown.getMessage()));
        for (Throwable cause = thrown.getCause(); cause != null; cause = cause.getCause()) {
            reasons.append(": ").append(cause.getMessage());
        }
        return reasons.toString();
    }

    private static Map<String, String> withSerializers(Map<String, String> settings) {
        Map<String, String> complete = new HashMap<>(settings);
        complete.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        complete.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        return complete;
    }
}
