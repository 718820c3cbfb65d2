package dev.twinbox.inbox;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigValue;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Settings of the Kafka consumer: those that the guarantees rest on, and the application's. */
final class ConsumerSettings {

    /** Enough to fill a batch of the default size by one poll, without making single records wait in memory. */
    private static final int LEAST_POLL_RECORDS = 500;

    /** New partitions, and topics created after the start, are found this soon; Kafka's default is five minutes. */
    private static final String METADATA_MAX_AGE_MS = "30000";

    private static final ConfigDef DEFINITION = ConsumerConfig.configDef();

    /** Name, and why the receiver does not leave it to the application. */
    private static final Map<String, String> FIXED = new TreeMap<>(Map.ofEntries(
            Map.entry(ConsumerConfig.GROUP_ID_CONFIG, "it is " + Setting.GROUP.key()),
            Map.entry(ConsumerConfig.GROUP_PROTOCOL_CONFIG, "rebalances are built on the classic protocol"),
            Map.entry(
                    ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                    "offsets are committed after the database commit, never by a timer"),
            Map.entry(
                    ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
                    "a new group starts at the earliest offset, and an offset out of range is an error, never a jump"),
            Map.entry(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "records of aborted Kafka transactions are no events"),
            Map.entry(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, "records are read as bytes"),
            Map.entry(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, "records are read as bytes"),
            Map.entry(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, "partitions move cooperatively"),
            Map.entry(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "it follows from " + Setting.BATCH_SIZE.key()),
            Map.entry(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "a receiver never creates topics")));

    private ConsumerSettings() {}

    /** Names of all settings that Kafka's consumer knows. */
    static Set<String> names() {
        return ConsumerConfig.configNames();
    }

    /** Names of those that an application can not set. */
    static Set<String> fixed() {
        return FIXED.keySet();
    }

    /** What is wrong with the application's settings; one sentence each. */
    static List<String> problems(Map<String, String> kafka) {
        List<String> problems = new ArrayList<>();
        if (!kafka.containsKey(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG)) {
            problems.add(Setting.KAFKA_PREFIX + ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG
                    + " is not set: host:port of one or more brokers, separated by commas");
        }
        Map<String, String> toCheck = new HashMap<>(kafka);
        for (String name : kafka.keySet()) {
            String reason = FIXED.get(name);
            if (reason != null) {
                problems.add(Setting.KAFKA_PREFIX + name + " can not be set: " + reason);
                toCheck.remove(name);
            } else if (!names().contains(name)) {
                problems.add(
                        "unknown key " + Setting.KAFKA_PREFIX + name + ": Kafka's consumer has no setting " + name);
                toCheck.remove(name);
            }
        }
        for (ConfigValue value : DEFINITION.validate(toCheck)) {
            if (kafka.containsKey(value.name()) && !value.errorMessages().isEmpty()) {
                // What follows the first is its consequence.
                problems.add(Setting.KAFKA_PREFIX + value.name() + ": "
                        + value.errorMessages().get(0));
            }
        }
        return problems;
    }

    /** Properties of a consumer of this group. */
    static Map<String, Object> properties(InboxConfig config, String group) {
        Map<String, Object> properties = new HashMap<>();
        properties.put(ConsumerConfig.METADATA_MAX_AGE_CONFIG, METADATA_MAX_AGE_MS);
        properties.putAll(config.kafka());
        properties.put(ConsumerConfig.CLIENT_ID_CONFIG, clientId(config, group));
        properties.put(ConsumerConfig.GROUP_ID_CONFIG, group);
        properties.put(ConsumerConfig.GROUP_PROTOCOL_CONFIG, "classic");
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        properties.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        properties.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        properties.put(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, CooperativeStickyAssignor.class.getName());
        properties.put(
                ConsumerConfig.MAX_POLL_RECORDS_CONFIG,
                Math.max(LEAST_POLL_RECORDS, config.batch().size()));
        properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        return properties;
    }

    /** Unique in the server: Kafka names MBeans by it, and a second application of the same group would collide. */
    private static String clientId(InboxConfig config, String group) {
        String prefix = config.kafka().getOrDefault(ConsumerConfig.CLIENT_ID_CONFIG, group);
        return prefix + "-" + UUID.randomUUID().toString().substring(0, 8);
    }
}
