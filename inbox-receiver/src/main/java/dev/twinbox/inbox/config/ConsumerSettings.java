package dev.twinbox.inbox.config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
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
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/** Settings of the Kafka consumer: those that the guarantees rest on, and the application's. */
public final class ConsumerSettings {

    /** Enough to fill a batch of the default size by one poll, without making single records wait in memory. */
    private static final int LEAST_POLL_RECORDS = 500;

    /** New partitions, and topics created after the start, are found this soon; Kafka's default is five minutes. */
    private static final String METADATA_MAX_AGE_MS = "30000";

    /**
     * How long a broker may take to say that it has nothing new; Kafka's default is 500. Until it has, it is not asked for a partition
     * that was paused when the request was sent.
     */
    private static final String FETCH_MAX_WAIT_MS = "100";

    /**
     * A member that died takes its partitions with it for this long; Kafka's default is 45 seconds. A member that only seemed
     * dead costs duplicates that are skipped, not effects that are repeated, so there is no reason to wait longer than a
     * server may pause (garbage collection, a suspended machine).
     */
    private static final int SESSION_TIMEOUT_MS = 10_000;

    /** Kafka's advice: three of them may be lost. */
    private static final int HEARTBEATS_PER_SESSION = 3;

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

    /** Names of those that an application cannot set. */
    static Set<String> fixed() {
        return FIXED.keySet();
    }

    /** What is wrong with the application's settings; one sentence each. */
    static List<String> problems(Map<String, String> kafka) {
        List<String> problems = new ArrayList<>();
        problems.addAll(addressProblems(kafka.get(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG)));
        Map<String, String> toCheck = new HashMap<>(kafka);
        for (String name : kafka.keySet()) {
            String reason = FIXED.get(name);
            if (reason != null) {
                problems.add(Setting.KAFKA_PREFIX + name + " cannot be set: " + reason + "; remove it");
                toCheck.remove(name);
            } else if (!names().contains(name)) {
                problems.add("unknown key " + Setting.KAFKA_PREFIX + name + ": Kafka's consumer has no setting " + name
                        + "; correct it");
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
        if (problems.isEmpty()) {
            problems.addAll(sessionProblems(kafka));
        }
        return problems;
    }

    /** Without asking the network. Kafka's consumer would refuse it, but only when it is made, long after the deployment. */
    private static List<String> addressProblems(@Nullable String addresses) {
        String key = Setting.KAFKA_PREFIX + ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG;
        if (addresses == null) {
            return List.of(key + " is not set: host:port of one or more brokers, separated by commas");
        }
        return Arrays.stream(addresses.split(","))
                .map(String::trim)
                .filter(address -> Utils.getHost(address) == null || Utils.getPort(address) == null)
                .map(address -> key + " has to be host:port, several separated by commas; \"" + address + "\" is not")
                .toList();
    }

    /** Kafka's consumer would refuse it, but only when it is made, long after the deployment. */
    private static List<String> sessionProblems(Map<String, String> kafka) {
        int session = session(kafka);
        int heartbeat = heartbeat(kafka);
        return heartbeat < session
                ? List.of()
                : List.of(Setting.KAFKA_PREFIX + ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG + " is " + heartbeat
                        + ", not less than " + Setting.KAFKA_PREFIX + ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG + " "
                        + session);
    }

    /** Properties of a consumer of this group. */
    public static Map<String, Object> properties(InboxConfig config, String group) {
        Map<String, Object> properties = new HashMap<>();
        properties.put(ConsumerConfig.METADATA_MAX_AGE_CONFIG, METADATA_MAX_AGE_MS);
        properties.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, FETCH_MAX_WAIT_MS);
        properties.putAll(config.kafka());
        properties.put(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, session(config.kafka()));
        properties.put(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, heartbeat(config.kafka()));
        properties.put(ConsumerConfig.CLIENT_ID_CONFIG, clientId(config, group));
        properties.put(ConsumerConfig.GROUP_ID_CONFIG, group);
        properties.put(ConsumerConfig.GROUP_PROTOCOL_CONFIG, "classic");
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        properties.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        properties.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        properties.put(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, CooperativeStickyAssignor.class.getName());
        properties.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, mostRecordsOfAPoll(config));
        properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        return properties;
    }

    public static int mostRecordsOfAPoll(InboxConfig config) {
        return Math.max(LEAST_POLL_RECORDS, config.batch().size());
    }

    /** How long the group waits for a member's heartbeat. */
    public static Duration sessionTimeout(InboxConfig config) {
        return Duration.ofMillis(session(config.kafka()));
    }

    private static int session(Map<String, String> kafka) {
        String own = kafka.get(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG);
        return own == null ? SESSION_TIMEOUT_MS : Integer.parseInt(own.trim());
    }

    /** Unless set, as often as the session needs it. */
    private static int heartbeat(Map<String, String> kafka) {
        String own = kafka.get(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG);
        return own == null ? Math.max(1, session(kafka) / HEARTBEATS_PER_SESSION) : Integer.parseInt(own.trim());
    }

    /** Unique in the server: Kafka names MBeans by it, and a second application of the same group would collide. */
    private static String clientId(InboxConfig config, String group) {
        String prefix = config.kafka().getOrDefault(ConsumerConfig.CLIENT_ID_CONFIG, group);
        return prefix + "-" + UUID.randomUUID().toString().substring(0, 8);
    }
}
