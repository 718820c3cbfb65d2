package dev.twinbox.inbox.config;

import dev.twinbox.config.SettingsReader;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.kafka.clients.admin.AdminClientConfig;
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

    /** Also bounds how long a broker that is down can delay a deployment or an undeployment. */
    private static final int ADMIN_TIMEOUT_MS = 5_000;

    private static final ConfigDef DEFINITION = ConsumerConfig.configDef();

    /** Name, and why the receiver does not leave it to the application. */
    private static final Map<String, String> FIXED = new TreeMap<>(Map.ofEntries(
            Map.entry(ConsumerConfig.GROUP_ID_CONFIG, "it is " + InboxSettings.GROUP.key()),
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
            Map.entry(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "it follows from " + InboxSettings.BATCH_SIZE.key()),
            Map.entry(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "a receiver never creates topics")));

    private ConsumerSettings() {}

    /** Names of those that an application cannot set. */
    static Set<String> fixed() {
        return FIXED.keySet();
    }

    /**
     * Reports what is wrong with the application's settings. Kafka's consumer would refuse it, too, but only when it is
     * made, long after the deployment.
     *
     * @param kafka by Kafka's own names
     */
    static void check(SettingsReader reader, Map<String, String> kafka) {
        checkAddresses(reader, kafka.get(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG));
        Map<String, String> free = new HashMap<>(kafka);
        FIXED.forEach((name, reason) -> {
            if (free.remove(name) != null) {
                reader.report(InboxSettings.KAFKA_PREFIX + name, "cannot be set: " + reason);
            }
        });
        boolean isLegal = true;
        for (ConfigValue value : DEFINITION.validate(free)) {
            if (free.containsKey(value.name()) && !value.errorMessages().isEmpty()) {
                // What follows the first is its consequence.
                reader.report(
                        InboxSettings.KAFKA_PREFIX + value.name(),
                        "is refused by Kafka: " + value.errorMessages().get(0));
                isLegal = false;
            }
        }
        if (isLegal) {
            checkSession(reader, kafka);
        }
    }

    /** Without asking the network. */
    private static void checkAddresses(SettingsReader reader, @Nullable String addresses) {
        String key = InboxSettings.KAFKA_PREFIX + ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG;
        if (addresses == null) {
            reader.report(key, "is missing: set it to host:port of one or more brokers, separated by commas");
            return;
        }
        Arrays.stream(addresses.split(","))
                .map(String::trim)
                .filter(address -> Utils.getHost(address) == null || Utils.getPort(address) == null)
                .forEach(address -> reader.report(
                        key, "must be host:port, several separated by commas; \"" + address + "\" is not"));
    }

    private static void checkSession(SettingsReader reader, Map<String, String> kafka) {
        int session = session(kafka);
        if (heartbeat(kafka) >= session) {
            reader.report(
                    InboxSettings.KAFKA_PREFIX + ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG,
                    "must be less than " + InboxSettings.KAFKA_PREFIX + ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG + " ("
                            + session + ")");
        }
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

    /** Properties of a consumer that is in no group. It reads single records to find damaged ones. */
    public static Map<String, Object> propertiesOfProbe(InboxConfig config) {
        Map<String, Object> properties = properties(config, config.group());
        properties.remove(ConsumerConfig.GROUP_ID_CONFIG);
        properties.remove(ConsumerConfig.GROUP_PROTOCOL_CONFIG);
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_uncommitted");
        properties.put(ConsumerConfig.CHECK_CRCS_CONFIG, "true");
        properties.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 1);
        return properties;
    }

    /** Properties of a consumer that is in no group. It reads what is committed. */
    public static Map<String, Object> propertiesOfReplay(InboxConfig config) {
        Map<String, Object> properties = properties(config, config.group());
        properties.remove(ConsumerConfig.GROUP_ID_CONFIG);
        properties.remove(ConsumerConfig.GROUP_PROTOCOL_CONFIG);
        return properties;
    }

    /** Properties of a client that asks the broker about topics. */
    public static Map<String, Object> adminProperties(InboxConfig config) {
        Map<String, Object> properties = properties(config, config.group());
        properties.keySet().retainAll(AdminClientConfig.configNames());
        properties.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, ADMIN_TIMEOUT_MS);
        properties.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, ADMIN_TIMEOUT_MS);
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
