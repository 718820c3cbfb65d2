package dev.twinbox.relay.config;

import dev.twinbox.schema.OutboxSchema;
import dev.twinbox.schema.Retention;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.event.Level;

/** Every key that the relay knows, in the order of the documentation. */
public final class RelaySettings {

    private static final String IDENTIFIER = "identifier, taken literally";

    public static final Setting<String> NAME = new Setting<>(
            "twinbox.relay.name",
            "1 to 100 of `A-Z a-z 0-9 . _ -`",
            "relay",
            Setting.Presence.OPTIONAL,
            "Names the lease and the positions. One relay name per outbox; processes of one name stand by for each other.",
            matching("[A-Za-z0-9._-]{1,100}", "must be 1 to 100 of the characters A-Z a-z 0-9 . _ -"));

    static final Setting<String> SCHEMA = Setting.optional(
            "twinbox.outbox.schema",
            IDENTIFIER,
            "Schema of the outbox tables. Unset: unqualified names, the connection's `search_path` "
                    + "(or `currentSchema` of the URL) decides.",
            checked(OutboxSchema::checkSchema));
    static final Setting<String> TABLE = identifier(
            "twinbox.outbox.table",
            OutboxSchema.DEFAULT_TABLE,
            OutboxSchema::checkTable,
            "Table of the events; its slots and sequence are named after it.");
    static final Setting<String> POSITION_TABLE = identifier(
            "twinbox.outbox.position-table",
            OutboxSchema.DEFAULT_POSITION_TABLE,
            OutboxSchema::checkPositionTable,
            "Table of the relay's positions.");
    static final Setting<String> LEASE_TABLE = identifier(
            "twinbox.outbox.lease-table",
            OutboxSchema.DEFAULT_LEASE_TABLE,
            OutboxSchema::checkLeaseTable,
            "Table of the relay's lease.");

    static final Setting<Retention> RETENTION = Setting.optional(
            "twinbox.relay.retention",
            "duration, PT1M to PT8784H, or `forever`",
            "How long events are written into one slot of the event table; a slot that has had its turn is emptied when all "
                    + "of it is sent. `forever`: nothing is removed. Set by `migrate`, in the table itself. Unset: `migrate` "
                    + "leaves it as it is, an hour in new tables.",
            Retention::parse);

    public static final Setting<String> DATABASE_URL = Setting.required(
            "twinbox.relay.database.url",
            "`jdbc:postgresql:` URL",
            "Where the outbox is. User and password have keys of their own and are refused in the URL.",
            RelaySettings::databaseUrl);
    static final Setting<String> DATABASE_USER = Setting.optional(
            "twinbox.relay.database.user",
            "text",
            "Role of the relay. Unset: pgjdbc's default, the user of the operating system.",
            Function.identity());
    static final Setting<Secret> DATABASE_PASSWORD = Setting.optional(
            "twinbox.relay.database.password",
            "secret",
            "Its password. Unset: pgjdbc looks into `PGPASSFILE` or `~/.pgpass`.",
            Secret::new);
    static final Setting<Duration> CONNECT_TIMEOUT = Setting.duration(
            "twinbox.relay.database.connect-timeout",
            "PT5S",
            "PT1S",
            "PT5M",
            "Most time to open a connection, login included; rounded up to whole seconds.");
    static final Setting<Duration> SOCKET_TIMEOUT = Setting.duration(
            "twinbox.relay.database.socket-timeout",
            "PT20S",
            "PT1S",
            "PT10M",
            "A connection that gives no answer for this long counts as lost; rounded up to whole seconds.");

    static final Setting<String> BOOTSTRAP_SERVERS = Setting.required(
            KafkaSettings.PREFIX + "bootstrap.servers",
            "`host:port`, separated by commas",
            "Brokers to ask first.",
            KafkaSettings::addresses);

    static final Setting<Integer> PAGE_ROWS =
            Setting.integer("twinbox.relay.page.rows", 2000, 1, 100_000, "Most rows read as one page.");
    static final Setting<Integer> PAGE_BYTES = Setting.integer(
            "twinbox.relay.page.bytes",
            4 * 1024 * 1024,
            1024,
            512 * 1024 * 1024,
            "Most payload bytes of one page; a single larger event is a page of its own.");
    static final Setting<Integer> PAGE_IN_FLIGHT = Setting.integer(
            "twinbox.relay.page.in-flight",
            4,
            1,
            64,
            "How much may be read and not yet acknowledged, in pages of page.bytes; reading waits beyond it.");
    public static final Setting<DeliveryMode> DELIVERY = new Setting<>(
            "twinbox.relay.delivery",
            "`at-least-once` `exactly-once`",
            "at-least-once",
            Setting.Presence.OPTIONAL,
            "`exactly-once`: in Kafka transactions; a consumer with `isolation.level=read_committed` meets each event once. "
                    + "There is no way back from it.",
            DeliveryMode::parse);
    public static final Setting<String> POSITION_TOPIC = Setting.optional(
            "twinbox.relay.position-topic",
            "name of a topic",
            "With exactly-once: the topic, and the consumer group of the same name, for which Kafka keeps how far the relay "
                    + "is; made by `migrate`. Unset: the relay's name and `-position`.",
            RelaySettings::topic);

    static final Setting<Duration> LEASE = Setting.duration(
            "twinbox.relay.lease",
            "PT5S",
            "PT2S",
            "PT10M",
            "How long a relay owns its name without renewing it, by the database's clock.");
    static final Setting<Duration> IDLE_MIN = Setting.duration(
            "twinbox.relay.idle.min",
            "PT0.002S",
            "PT0.001S",
            "PT1M",
            "First wait when there is nothing to send; doubles with each empty poll once nothing has come for five times idle.max.");
    static final Setting<Duration> IDLE_MAX = Setting.duration(
            "twinbox.relay.idle.max", "PT0.05S", "PT0.001S", "PT1M", "Longest wait when there is nothing to send.");
    static final Setting<Duration> RETRY = Setting.duration(
            "twinbox.relay.retry",
            "PT1S",
            "PT0.1S",
            "PT1M",
            "Wait between two attempts to reach a database or broker that is away.");

    static final Setting<Duration> STALL_TIMEOUT = Setting.duration(
            "twinbox.relay.stall-timeout",
            "PT30S",
            "PT2S",
            "PT1H",
            "A partition that takes nothing for this long although Kafka answers is worked around: its events are set aside and "
                    + "sent when it moves again.");
    static final Setting<Duration> WAITING_LIMIT = Setting.duration(
            "twinbox.relay.waiting-limit",
            "PT24H",
            "PT1S",
            "PT8760H",
            "How long an event waits for a missing topic or a stalled partition before a person has to decide "
                    + "(`parked retry`, `parked discard`).");

    public static final Setting<String> HTTP_HOST = Setting.text(
            "twinbox.relay.http.host",
            "127.0.0.1",
            "Address for health and metrics. They are neither encrypted nor protected: keep them off public networks.");
    public static final Setting<Integer> HTTP_PORT = Setting.integer(
            "twinbox.relay.http.port", 8480, 0, 65_535, "Port for health and metrics; 0 = any free port.");
    static final Setting<Duration> READY_TIMEOUT = Setting.duration(
            "twinbox.relay.ready-timeout",
            "PT10S",
            "PT1S",
            "PT1H",
            "Without a successful poll, or without progress of what is in flight, for this long `/health/ready` says DOWN.");
    static final Setting<Duration> SHUTDOWN_TIMEOUT = Setting.duration(
            "twinbox.relay.shutdown-timeout",
            "PT10S",
            "PT1S",
            "PT10M",
            "What SIGTERM grants to the events in flight before the process ends without them.");
    static final Setting<Level> LOG_LEVEL = new Setting<>(
            "twinbox.relay.log.level",
            "`ERROR` `WARN` `INFO` `DEBUG` `TRACE`",
            "INFO",
            Setting.Presence.OPTIONAL,
            "Log level of the relay's own lines.",
            RelaySettings::level);

    static final Setting<LogFormat> LOG_FORMAT = new Setting<>(
            "twinbox.relay.log.format",
            "`text` `json`",
            "text",
            Setting.Presence.OPTIONAL,
            "`json`: one JSON object per line, as logback's JsonEncoder writes it.",
            LogFormat::parse);

    /** All keys of our own; those below {@link KafkaSettings#PREFIX} are Kafka's. */
    static final List<Setting<?>> ALL = List.of(
            NAME,
            SCHEMA,
            TABLE,
            POSITION_TABLE,
            LEASE_TABLE,
            RETENTION,
            DATABASE_URL,
            DATABASE_USER,
            DATABASE_PASSWORD,
            CONNECT_TIMEOUT,
            SOCKET_TIMEOUT,
            BOOTSTRAP_SERVERS,
            PAGE_ROWS,
            PAGE_BYTES,
            PAGE_IN_FLIGHT,
            DELIVERY,
            POSITION_TOPIC,
            LEASE,
            IDLE_MIN,
            IDLE_MAX,
            RETRY,
            STALL_TIMEOUT,
            WAITING_LIMIT,
            HTTP_HOST,
            HTTP_PORT,
            READY_TIMEOUT,
            SHUTDOWN_TIMEOUT,
            LOG_LEVEL,
            LOG_FORMAT);

    /** Keys of applications, which may share a file with the relay; their values are none of the relay's business. */
    static final Set<String> OF_APPLICATIONS = Set.of(
            "twinbox.outbox.data-source",
            "twinbox.outbox.source",
            "twinbox.outbox.max-payload-bytes",
            "twinbox.outbox.max-events-per-transaction",
            "twinbox.outbox.max-bytes-per-transaction");

    private static final Set<String> CREDENTIALS = Set.of("user", "password");

    private RelaySettings() {}

    private static Function<String, String> matching(String pattern, String rule) {
        return value -> {
            if (!value.matches(pattern)) {
                throw new IllegalArgumentException(rule);
            }
            return value;
        };
    }

    private static Setting<String> identifier(String key, String fallback, Consumer<String> check, String meaning) {
        return new Setting<>(key, IDENTIFIER, fallback, Setting.Presence.OPTIONAL, meaning, checked(check));
    }

    private static Function<String, String> checked(Consumer<String> check) {
        return value -> {
            check.accept(value);
            return value;
        };
    }

    private static String topic(String value) {
        if (!KafkaSettings.isLegalTopicName(value)) {
            throw new IllegalArgumentException("must be a legal name of a Kafka topic");
        }
        return value;
    }

    private static String databaseUrl(String value) {
        List<DriverPropertyInfo> properties;
        try {
            properties = List.of(DriverManager.getDriver(value).getPropertyInfo(value, new Properties()));
        } catch (SQLException e) {
            throw new IllegalArgumentException("must be a URL such as jdbc:postgresql://host:5432/database", e);
        }
        if (properties.stream().anyMatch(p -> CREDENTIALS.contains(p.name) && p.value != null)) {
            throw new IllegalArgumentException(
                    "must not hold user or password: use " + DATABASE_USER.key() + " and " + DATABASE_PASSWORD.key());
        }
        return value;
    }

    private static Level level(String value) {
        return Arrays.stream(Level.values())
                .filter(level -> level.name().equalsIgnoreCase(value))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("must be one of "
                        + Arrays.stream(Level.values()).map(Level::name).collect(Collectors.joining(", "))));
    }
}
