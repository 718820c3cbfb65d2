package dev.twinbox.inbox.config;

import dev.twinbox.ParkedEvent.State;
import dev.twinbox.config.Setting;
import dev.twinbox.inbox.event.Origin;
import dev.twinbox.inbox.event.TopicFormat.Wrapping;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.inbox.jdbc.HandlerTable;
import dev.twinbox.inbox.jdbc.OffsetTable;
import dev.twinbox.inbox.jdbc.ParkedTable;
import dev.twinbox.inbox.jdbc.RetentionTable;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.schema.LockSchema;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What an application may set below {@code twinbox.inbox.}. The documentation is checked against it. */
public final class InboxSettings {

    static final String PREFIX = "twinbox.inbox.";
    static final String KAFKA_PREFIX = PREFIX + "kafka.";
    static final String TOPIC_PREFIX = PREFIX + "topic.";

    private static final String SHORTEST = "PT0.001S";
    private static final String LONGEST = "P1D";

    /** Longest wait of {@link InboxConfig#FIRST_RETRY}, which {@link #RETRY_MAX} must not go below. */
    private static final String FIRST_RETRY = InboxConfig.FIRST_RETRY.toString();

    private static final String PLACE = "see below";

    /** Room for a handler's name and an event's id in an entry of an index, which holds 2,704 bytes. */
    private static final int LONGEST_GROUP = 255;

    public static final Setting<String> GROUP = Setting.of(
            PREFIX + "group",
            "1 to " + LONGEST_GROUP + " bytes",
            "Kafka consumer group of this application. It is also part of each inbox row's key.",
            InboxSettings::checkedGroup);

    public static final Setting<String> DATA_SOURCE = Setting.jndiName(
            PREFIX + "data-source",
            "JTA data source of the database that holds the inbox and the handlers' effects, for example "
                    + "`java:app/jdbc/shipping`.");

    static final Setting<String> SCHEMA = Setting.identifier(
                    PREFIX + "schema",
                    "Schema of the inbox tables. Unset: the connection's `search_path` decides.",
                    value -> SqlIdentifier.check("schema", value))
            .optional();

    static final Setting<String> TABLE = Setting.identifier(
                    PREFIX + "table",
                    "Table of the inbox. The tables of parked events, of the retention and of the offsets are named after it.",
                    InboxSettings::checkTable)
            .withDefault("inbox_event");

    static final Setting<Integer> BATCH_SIZE = Setting.integer(
                    PREFIX + "batch.size",
                    1,
                    10_000,
                    "Most records of one partition that are handled in one transaction.")
            .withDefault("500");

    static final Setting<Duration> BATCH_MAX_TIME = Setting.duration(
                    PREFIX + "batch.max-time",
                    SHORTEST,
                    LONGEST,
                    "A batch takes no further record after this time and commits what it has handled. Keep it well "
                            + "below the transaction timeout.")
            .withDefault("PT5S");

    static final Setting<Integer> WORKERS = Setting.integer(
                    PREFIX + "workers",
                    1,
                    256,
                    "Threads that run handlers, each with a database connection. At most `lanes` of them work on one "
                            + "partition at the same time.")
            .withDefault("4");

    static final Setting<Integer> LANES = Setting.integer(
                    PREFIX + "lanes",
                    1,
                    64,
                    "Batches of one partition that are handled at the same time, at most as many as `workers`. The "
                            + "order of each key is kept, the order between keys is not.")
            .withDefault("1");

    static final Setting<Duration> RETRY_MAX = Setting.duration(
                    PREFIX + "retry.max",
                    FIRST_RETRY,
                    LONGEST,
                    "Longest wait between two attempts of a handler, and while a broker does not answer. The first wait "
                            + "is " + FIRST_RETRY + "; each further one is twice as long. The database is tried "
                            + "again after 10 seconds at the latest.")
            .withDefault("PT30S");

    static final Setting<Integer> QUICK_TRIES = Setting.integer(
                    PREFIX + "quick-tries",
                    1,
                    100,
                    "How often a handler may fail on an event before the event is parked. Its partition then goes on.")
            .withDefault("3");

    public static final Setting<Integer> PARKED_ATTEMPTS = Setting.integer(
                    PREFIX + "parked.attempts",
                    1,
                    1_000_000,
                    "How often a handler may fail on an event in all, quick tries included, before the event is dead. "
                            + "Deadlocks, serialization failures, faults of the application's own database and "
                            + "`RetryLaterException` do not count.")
            .withDefault("20");

    static final Setting<Duration> PARKED_RETRY_INITIAL = Setting.duration(
                    PREFIX + "parked.retry.initial",
                    SHORTEST,
                    LONGEST,
                    "Longest wait before a parked event is tried for the first time. Each further wait is twice as "
                            + "long. Chance shortens each wait by up to half.")
            .withDefault("PT1S");

    static final Setting<Duration> PARKED_RETRY_MAX = Setting.duration(
                    PREFIX + "parked.retry.max",
                    SHORTEST,
                    LONGEST,
                    "Longest wait between two attempts of a parked event.")
            .withDefault("PT10M");

    static final Setting<State> PARKED_WHEN_DEAD = Setting.oneOf(
                    PREFIX + "parked.when-dead",
                    List.of(State.DEAD, State.PASSED),
                    state -> state == State.DEAD ? "block-key" : "pass-key",
                    "What later events of the key and handler of a dead event do. They wait until an operator retries "
                            + "or discards it, or they go on without it.")
            .withDefault("block-key");

    static final Setting<Origin> EVENT_ID = eventId(
                    PREFIX,
                    "Where the identity of an event is, by which duplicates are recognised: `cloudevent` (source and id), "
                            + "`cloudevent-id`, `header:NAME`, `key`, `json-pointer:/POINTER` or `coordinates`.")
            .withDefault(Origin.CLOUD_EVENT);

    static final Setting<Origin> EVENT_TYPE = eventType(
                    PREFIX,
                    "Where the type of an event is: `cloudevent`, "
                            + "`header:NAME`, `json-pointer:/POINTER` or `fixed:TYPE`.")
            .withDefault(Origin.CLOUD_EVENT);

    static final Setting<Wrapping> VALUE_FORMAT = valueFormat(
                    PREFIX,
                    "What is around a value: nothing, or what the "
                            + "`JsonConverter` of Kafka Connect puts there. The content type says whether it is a structured "
                            + "CloudEvent.")
            .withDefault("plain");

    static final Setting<UnknownType> UNKNOWN_TYPE = Setting.oneOf(
                    PREFIX + "unknown-type",
                    List.of(UnknownType.SKIP, UnknownType.PARK),
                    type -> type.name().toLowerCase(Locale.ROOT),
                    "What happens to an event whose type no instance of the application has a handler for: it is "
                            + "skipped and counted, or parked.")
            .withDefault("skip");

    /** For a topic of which neither Kafka nor the inbox database remembers anything. */
    public static final Setting<FirstStart> START = Setting.of(
                    PREFIX + "start",
                    "`earliest`, `latest` or a time",
                    "Where the group starts on a topic that it has never read. A time is written as "
                            + "`2026-12-01T08:00:00Z`. Partitions that are added later, and topics that do not exist yet, "
                            + "always start at their beginning.",
                    FirstStart::parse)
            .withDefault("earliest");

    /** Empty: for ever. */
    public static final Setting<Optional<Duration>> RETENTION = Setting.durationOrForever(
                    PREFIX + "retention",
                    "PT1S",
                    "P36500D",
                    "How long an inbox row is kept after its event was handled. It must be as long as the topics may "
                            + "keep a record.")
            .withDefault("P15D");

    public static final Setting<Duration> HANDLER_TIMEOUT = Setting.duration(
                    PREFIX + "handler-timeout",
                    SHORTEST,
                    LONGEST,
                    "How long one call of a handler may take. A call that takes longer is interrupted, its effect is "
                            + "rolled back, and its event is parked. `@InboxHandler(timeout = …)` overrides it.")
            .withDefault("PT5M");

    public static final Setting<Duration> SHUTDOWN_TIMEOUT = Setting.duration(
                    PREFIX + "shutdown-timeout",
                    SHORTEST,
                    LONGEST,
                    "How long undeployment, or the loss of a partition to another instance, waits for the records "
                            + "that are being handled.")
            .withDefault("PT15S");

    /** In the order of the documentation. */
    static final List<Setting<?>> ALL = List.of(
            GROUP,
            DATA_SOURCE,
            SCHEMA,
            TABLE,
            BATCH_SIZE,
            BATCH_MAX_TIME,
            WORKERS,
            LANES,
            HANDLER_TIMEOUT,
            RETRY_MAX,
            QUICK_TRIES,
            PARKED_ATTEMPTS,
            PARKED_RETRY_INITIAL,
            PARKED_RETRY_MAX,
            PARKED_WHEN_DEAD,
            EVENT_ID,
            EVENT_TYPE,
            VALUE_FORMAT,
            UNKNOWN_TYPE,
            START,
            RETENTION,
            SHUTDOWN_TIMEOUT);

    /** Rows of the documentation that stand for many keys. */
    static final List<Setting<?>> FAMILIES = List.of(
            Setting.text(
                            TOPIC_PREFIX + "<topic>.*",
                            PLACE,
                            "`event-id`, `event-type` or `value-format` of one topic, for example "
                                    + "`twinbox.inbox.topic.outbox.event.order.event-id`. It overrides the key for "
                                    + "all topics.")
                    .optional(),
            Setting.text(
                            KAFKA_PREFIX + "*",
                            "Kafka consumer settings",
                            "Passed to the Kafka consumer. `twinbox.inbox.kafka.bootstrap.servers` is required.")
                    .optional());

    /** Keys of earlier versions, and what to do instead. */
    static final Map<String, String> DROPPED = Map.of(
            PREFIX + "stop.timeout", "set " + SHUTDOWN_TIMEOUT.key() + " instead",
            PREFIX + "parked-table",
                    "remove it. The table is named after " + TABLE.key() + ": inbox_parked for inbox_event. "
                            + "Rename the existing table",
            PREFIX + "lanes-ahead", "remove it. It is always " + InboxConfig.LANES_AHEAD,
            PREFIX + "buffer.partition-bytes", "remove it. It is always " + InboxConfig.Buffer.DEFAULT.partitionBytes(),
            PREFIX + "buffer.total-bytes", "remove it. It is always " + InboxConfig.Buffer.DEFAULT.totalBytes(),
            PREFIX + "retry.initial", "remove it. It is always " + FIRST_RETRY);

    private InboxSettings() {}

    /**
     * How one topic's events are written.
     *
     * @param id where an event's id is
     * @param type where its type is
     * @param value what is around its value
     */
    record OfTopic(Setting<Origin> id, Setting<Origin> type, Setting<Wrapping> value) {

        List<Setting<?>> all() {
            return List.of(id, type, value);
        }
    }

    /** The settings of one topic; each is optional. */
    static OfTopic of(String topic) {
        String prefix = TOPIC_PREFIX + topic + '.';
        return new OfTopic(
                eventId(prefix, EVENT_ID.description()).optional(),
                eventType(prefix, EVENT_TYPE.description()).optional(),
                valueFormat(prefix, VALUE_FORMAT.description()).optional());
    }

    private static Setting<Origin> eventId(String prefix, String description) {
        return origin(
                prefix + "event-id",
                description,
                Origin::ofId,
                "cloudevent, cloudevent-id, header:NAME, key, coordinates, or json-pointer: and a JSON pointer such as "
                        + "/order/id");
    }

    private static Setting<Origin> eventType(String prefix, String description) {
        return origin(
                prefix + "event-type",
                description,
                Origin::ofType,
                "cloudevent, header:NAME, fixed:TYPE, or json-pointer: and a JSON pointer such as /type");
    }

    private static Setting<Origin> origin(
            String key, String description, Function<String, @Nullable Origin> parser, String places) {
        return Setting.of(key, PLACE, description, value -> {
            Origin origin = parser.apply(value.strip());
            if (origin == null) {
                throw new IllegalArgumentException("must be " + places);
            }
            return origin;
        });
    }

    private static Setting<Wrapping> valueFormat(String prefix, String description) {
        return Setting.oneOf(
                prefix + "value-format",
                List.of(Wrapping.NONE, Wrapping.CONNECT_JSON),
                wrapping -> wrapping == Wrapping.NONE ? "plain" : "connect-json",
                description);
    }

    private static String checkedGroup(String value) {
        if (value.isBlank() || value.getBytes(StandardCharsets.UTF_8).length > LONGEST_GROUP) {
            throw new IllegalArgumentException("must have 1 to " + LONGEST_GROUP + " bytes");
        }
        return value;
    }

    private static void checkTable(String name) {
        SqlIdentifier table = new SqlIdentifier(null, name);
        RetentionTable.name(table);
        OffsetTable.name(table);
        ParkedTable.name(table);
        HandlerTable.name(table);
        LockSchema.of(table);
    }
}
