package dev.twinbox.relay.config;

import dev.twinbox.config.Secret;
import dev.twinbox.config.Setting;
import dev.twinbox.console.config.HttpSettings;
import dev.twinbox.schema.Retention;
import dev.twinbox.schema.TableSettings;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.slf4j.event.Level;

/** Every key that the relay knows, in the order of the documentation. */
public final class RelaySettings {

    private static final String PREFIX = "twinbox.relay.";

    public static final Setting<String> NAME = Setting.of(
                    PREFIX + "name",
                    "1 to 100 of `A-Z a-z 0-9 . _ -`",
                    "Names the lease, the positions and, with exactly-once, the position topic (`relay-position`). "
                            + "One relay name per outbox; processes of one name stand by for each other.",
                    matching("[A-Za-z0-9._-]{1,100}", "must be 1 to 100 of the characters A-Z a-z 0-9 . _ -"))
            .withDefault("relay");

    static final Setting<Retention> RETENTION = Setting.of(
                    PREFIX + "retention",
                    "duration, PT1M to PT8784H, or `forever`",
                    "How long a slot of the event table is active. It is emptied once it is no longer active and all its "
                            + "events are sent. `migrate` sets it, an hour in new tables. Unset: unchanged. `forever`: nothing is removed.",
                    Retention::parse)
            .optional();

    public static final Setting<String> DATABASE_URL = Setting.of(
            PREFIX + "database.url",
            "`jdbc:postgresql:` URL",
            "Database of the outbox. User and password have their own keys. Unless the URL says otherwise, "
                    + "`connectTimeout` and `loginTimeout` are 5 seconds, `socketTimeout` 20.",
            RelaySettings::databaseUrl);
    static final Setting<String> DATABASE_USER = Setting.text(
                    PREFIX + "database.user",
                    "text",
                    "Role of the relay. Unset: pgjdbc's default, the user of the operating system.")
            .optional();
    static final Setting<Secret> DATABASE_PASSWORD = Setting.secret(
                    PREFIX + "database.password", "Its password. Unset: pgjdbc reads `PGPASSFILE` or `~/.pgpass`.")
            .optional();

    static final Setting<String> BOOTSTRAP_SERVERS = Setting.of(
            KafkaSettings.PREFIX + "bootstrap.servers",
            "`host:port`, separated by commas",
            "Brokers to ask first.",
            KafkaSettings::addresses);

    static final Setting<Integer> PAGE_ROWS = Setting.integer(
                    PREFIX + "page.rows",
                    1,
                    100_000,
                    "Most rows read as one page. More than 2,000 are read only while there is a backlog.")
            .withDefault("20000");
    static final Setting<Integer> PAGE_BYTES = Setting.integer(
                    PREFIX + "page.bytes",
                    1024,
                    512 * 1024 * 1024,
                    "Most payload bytes of one page. A larger event is a page of its own.")
            .withDefault("4194304");
    static final Setting<Integer> PAGE_IN_FLIGHT = Setting.integer(
                    PREFIX + "page.in-flight",
                    1,
                    64,
                    "Most that is read and not yet acknowledged, in pages of `page.bytes`. Reading waits beyond it.")
            .withDefault("4");
    public static final Setting<DeliveryMode> DELIVERY = Setting.of(
                    PREFIX + "delivery",
                    "`at-least-once` or `exactly-once`",
                    "`exactly-once`: in Kafka transactions; a consumer with `isolation.level=read_committed` sees each "
                            + "event once. There is no way back from it.",
                    DeliveryMode::parse)
            .withDefault("at-least-once");

    static final Setting<Duration> LEASE = Setting.duration(
                    PREFIX + "lease",
                    "PT2S",
                    "PT10M",
                    "How long a relay owns its name without renewing it, by the database's clock.")
            .withDefault("PT5S");

    static final Setting<Duration> STALL_TIMEOUT = Setting.duration(
                    PREFIX + "stall-timeout",
                    "PT2S",
                    "PT1H",
                    "After this time a partition counts as stalled if it takes nothing although Kafka answers. Its events "
                            + "are parked, and sent when it moves again.")
            .withDefault("PT30S");
    static final Setting<Duration> WAITING_LIMIT = Setting.duration(
                    PREFIX + "waiting-limit",
                    "PT1S",
                    "PT8760H",
                    "How long an event waits for a missing topic or a stalled partition. Then an operator has to decide: "
                            + "`parked retry` or `parked discard`.")
            .withDefault("PT24H");

    public static final Setting<Integer> PAUSED_ROWS = Setting.integer(
                    PREFIX + "paused.rows",
                    1,
                    10_000_000,
                    "Most events that are set aside while their topics are paused. Then the relay sends nothing more, and is "
                            + "not ready.")
            .withDefault("100000");
    public static final Setting<Integer> PAUSED_BYTES = Setting.integer(
                    PREFIX + "paused.bytes",
                    1024,
                    Integer.MAX_VALUE,
                    "The same in bytes: payloads, keys and headers, and 500 for each event.")
            .withDefault("1073741824");

    public static final HttpSettings HTTP = HttpSettings.of(
            PREFIX + "http.",
            "health, metrics and the API",
            "Nothing is encrypted, and health and metrics are not protected: keep them off public networks.",
            8480,
            "Without both there is no API.");
    static final Setting<Duration> SHUTDOWN_TIMEOUT = Setting.duration(
                    PREFIX + "shutdown-timeout",
                    "PT1S",
                    "PT10M",
                    "How long the relay waits after SIGTERM for the events in flight. Then the process ends without them.")
            .withDefault("PT10S");
    static final Setting<Level> LOG_LEVEL = Setting.oneOf(
                    PREFIX + "log.level", List.of(Level.values()), Level::name, "Log level of the relay's own lines.")
            .withDefault("INFO");
    static final Setting<LogFormat> LOG_FORMAT = Setting.of(
                    PREFIX + "log.format",
                    "`text` or `json`",
                    "`json`: one JSON object per line, as logback's JsonEncoder writes it.",
                    LogFormat::parse)
            .withDefault("text");

    /** The relay's own; those below {@link KafkaSettings#PREFIX} are Kafka's. */
    static final List<Setting<?>> ALL = List.of(
            NAME,
            RETENTION,
            DATABASE_URL,
            DATABASE_USER,
            DATABASE_PASSWORD,
            BOOTSTRAP_SERVERS,
            PAGE_ROWS,
            PAGE_BYTES,
            PAGE_IN_FLIGHT,
            DELIVERY,
            LEASE,
            STALL_TIMEOUT,
            WAITING_LIMIT,
            PAUSED_ROWS,
            PAUSED_BYTES,
            HTTP.host(),
            HTTP.port(),
            HTTP.names(),
            HTTP.readerToken(),
            HTTP.operatorToken(),
            HTTP.insecure(),
            HTTP.payloads(),
            SHUTDOWN_TIMEOUT,
            LOG_LEVEL,
            LOG_FORMAT);

    /** Keys of the past, and what to do instead. */
    static final Map<String, String> DROPPED = Map.of(
            PREFIX + "retry", "remove it. The relay tries again after a second",
            PREFIX + "idle.min", "remove it. The relay chooses its waits itself",
            PREFIX + "idle.max", "remove it. The relay chooses its waits itself",
            PREFIX + "database.connect-timeout",
                    "remove it. connectTimeout and loginTimeout in " + DATABASE_URL.key() + " say it, in seconds",
            PREFIX + "database.socket-timeout",
                    "remove it. socketTimeout in " + DATABASE_URL.key() + " says it, in seconds",
            PREFIX + "position-topic",
                    "remove it. The topic is named after " + NAME.key() + ": relay-position for the name relay",
            PREFIX + "ready-timeout", "remove it. The relay is not ready after ten seconds without progress");

    /** Keys of applications, which may be in the same file. The relay does not check their values. */
    static final Set<String> OF_APPLICATIONS = Set.of(
            "twinbox.outbox.data-source",
            "twinbox.outbox.source",
            "twinbox.outbox.max-payload-bytes",
            "twinbox.outbox.max-events-per-transaction",
            "twinbox.outbox.max-bytes-per-transaction");

    /** Most seconds that the URL may set. 0 means no limit to pgjdbc, which would hide a server that is cut off. */
    private static final Map<String, Integer> TIMEOUTS =
            Map.of("connectTimeout", 300, "loginTimeout", 300, "socketTimeout", 600);

    private static final Set<String> CREDENTIALS = Set.of("user", "password");

    private RelaySettings() {}

    /** Own keys and those of the tables. */
    static Stream<Setting<?>> all() {
        return Stream.concat(ALL.stream(), TableSettings.ALL.stream());
    }

    private static Function<String, String> matching(String pattern, String rule) {
        return value -> {
            if (!value.matches(pattern)) {
                throw new IllegalArgumentException(rule);
            }
            return value;
        };
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
        TIMEOUTS.forEach((name, most) -> checkTimeout(value, name, most));
        return value;
    }

    private static void checkTimeout(String url, String name, int most) {
        String text = DatabaseUrl.parameter(url, name).orElse("1");
        if (!text.matches("[1-9]\\d{0,2}") || Integer.parseInt(text) > most) {
            throw new IllegalArgumentException("must have 1 to " + most + " seconds as " + name + ", not " + text);
        }
    }
}
