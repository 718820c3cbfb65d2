package dev.twinbox.sample.bench;

import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;

/** The Kafka producer settings that the relay really uses, as Kafka's client prints them: the bare producer gets the same. */
final class ProducerSettings {

    private static final String HEADING = "ProducerConfig values:";
    private static final Pattern LINE = Pattern.compile("\\s+([a-z0-9._]+) = (.*)");

    private ProducerSettings() {}

    /**
     * Every single-valued setting.
     *
     * @param log what a relay printed, with Kafka's {@code ProducerConfig} logger at INFO
     */
    static Map<String, String> in(String log) {
        int heading = log.lastIndexOf(HEADING);
        if (heading < 0) {
            throw new InvalidRunException("the relay's log does not hold \"" + HEADING + "\":\n" + log);
        }
        Map<String, String> settings = new TreeMap<>();
        log.substring(heading + HEADING.length())
                .lines()
                .skip(1)
                .map(LINE::matcher)
                .takeWhile(Matcher::matches)
                .filter(line -> isPlain(line.group(1), line.group(2)))
                .forEach(line -> settings.put(line.group(1), line.group(2).trim()));
        // Kafka prints the number that "all" stands for.
        settings.computeIfPresent(ProducerConfig.ACKS_CONFIG, (name, value) -> value.equals("-1") ? "all" : value);
        return settings;
    }

    /** Those that are not Kafka's defaults. */
    static Map<String, String> chosen(Map<String, String> settings) {
        Map<String, ConfigDef.ConfigKey> known = ProducerConfig.configDef().configKeys();
        Map<String, String> chosen = new TreeMap<>(settings);
        chosen.entrySet().removeIf(entry -> {
            ConfigDef.ConfigKey key = known.get(entry.getKey());
            return key == null
                    || entry.getKey().equals(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG)
                    || entry.getValue().equals(ConfigDef.convertToString(key.defaultValue, key.type));
        });
        return chosen;
    }

    /** Lists, classes and unset ones have no text form that could be read back; names of a client belong to one client. */
    private static boolean isPlain(String name, String value) {
        return !value.isBlank()
                && !value.equals("null")
                && !value.startsWith("[")
                && !value.startsWith("class ")
                && !name.startsWith("ssl.")
                && !name.startsWith("sasl.")
                && !name.equals(ProducerConfig.CLIENT_ID_CONFIG);
    }
}
