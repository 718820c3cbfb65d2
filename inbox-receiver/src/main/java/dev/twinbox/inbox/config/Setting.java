package dev.twinbox.inbox.config;

import dev.twinbox.inbox.event.Origin;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Every configuration key of the receiver: the one list that reading, checking and {@code docs/reference/configuration.md} are held
 * against.
 */
public enum Setting {
    GROUP("group", "text", null, "Kafka consumer group of this application; also part of each inbox row's key"),
    DATA_SOURCE(
            "data-source",
            "JNDI name",
            null,
            "JTA data source of the database that holds the inbox and the handlers' effects, e.g. `java:app/jdbc/shipping`"),
    SCHEMA(
            "schema",
            "text",
            "",
            "schema of the inbox table; unset: found by the connection's `search_path`. Taken literally, case counts"),
    TABLE("table", "text", "inbox_event", "name of the inbox table. Taken literally, case counts"),
    PARKED_TABLE(
            "parked-table",
            "text",
            "inbox_parked",
            "name of the table of parked events, in the same schema. Taken literally, case counts"),
    BATCH_SIZE("batch.size", "1 to 10000", "500", "most records of one partition handled in one transaction"),
    BATCH_MAX_TIME(
            "batch.max-time",
            "duration",
            "PT5S",
            "a batch stops taking further records after this time and commits what it handled; keep it well below the "
                    + "transaction timeout"),
    WORKERS(
            "workers",
            "1 to 256",
            "4",
            "threads that run handlers, each with a database connection; a partition is handled by `lanes` of them at a time"),
    LANES(
            "lanes",
            "1 to 64",
            "1",
            "batches of one partition that are handled at the same time. Events are dealt to lanes by their key, so the order of a key "
                    + "is kept, the order between keys is not. No more than `workers`. `AT_MOST_ONCE` handlers always have one"),
    LANES_AHEAD(
            "lanes-ahead",
            "1 to 1000000",
            "5000",
            "with several lanes: how many records the fastest may be ahead of the first that is not settled. So many, and a poll's, "
                    + "may come again after a crash"),
    PARTITION_BYTES(
            "buffer.partition-bytes",
            "1024 to 2147483647",
            "33554432",
            "a partition whose records in memory have this many bytes is not read on until some are handled; one poll may go beyond it"),
    TOTAL_BYTES(
            "buffer.total-bytes",
            "1024 to 2147483647",
            "134217728",
            "the same for all partitions together; a partition that has nothing in memory is read all the same"),
    RETRY_INITIAL(
            "retry.initial",
            "duration",
            "PT0.1S",
            "wait before the second attempt of a handler that failed, or of a database or broker that is away; doubles "
                    + "with each further attempt"),
    RETRY_MAX("retry.max", "duration", "PT30S", "longest wait between two attempts"),
    QUICK_TRIES(
            "quick-tries",
            "1 to 100",
            "3",
            "how often a handler may fail on an event before the event is parked and its partition goes on; the waits between are "
                    + "those of `retry.initial` and `retry.max`"),
    PARKED_ATTEMPTS(
            "parked.attempts",
            "1 to 1000000",
            "20",
            "how often a handler may fail on an event in all, quick tries included, before the event is given up. Faults of the "
                    + "database or the connection do not count"),
    PARKED_RETRY_INITIAL(
            "parked.retry.initial",
            "duration",
            "PT1S",
            "longest wait before a parked event is tried again for the first time; doubles with each further attempt. Up to half "
                    + "of each wait is left out by chance"),
    PARKED_RETRY_MAX("parked.retry.max", "duration", "PT10M", "longest wait between two attempts of a parked event"),
    PARKED_WHEN_DEAD(
            "parked.when-dead",
            "`block-key` or `pass-key`",
            "block-key",
            "what an event that is given up means for later events of its key and handler: they wait until a person sends it "
                    + "again or discards it, or they go on without it"),
    EVENT_ID(
            "event-id",
            "see below",
            Origin.CLOUD_EVENT,
            "where the id of an event is, by which its repetitions are known: `cloudevent`, `header:NAME`, `key`, "
                    + "`json-pointer:/POINTER`, `coordinates`"),
    EVENT_TYPE(
            "event-type",
            "see below",
            Origin.CLOUD_EVENT,
            "where the type of an event is: `cloudevent`, `header:NAME`, `json-pointer:/POINTER`, `fixed:TYPE`"),
    VALUE_FORMAT(
            "value-format",
            "`plain` or `connect-json`",
            "plain",
            "what is around a value: nothing, or what the `JsonConverter` of Kafka Connect puts there. A structured CloudEvent is "
                    + "known by its content type"),
    UNKNOWN_TYPE(
            "unknown-type",
            "`skip` or `park`",
            "skip",
            "what becomes of an event whose type no handler of the application takes: it is skipped, counted and its type named once in "
                    + "the log, or it is parked until a person sends it again to a handler added since, or discards it"),
    TOPIC(
            "topic.<topic>.*",
            "see below",
            "",
            "`event-id`, `event-type` or `value-format` of one topic, e.g. `twinbox.inbox.topic.outbox.event.order.event-id`; goes "
                    + "before the key for all topics"),
    RETENTION(
            "retention",
            "duration or `forever`",
            "P15D",
            "how long an inbox row is kept after its event was handled; an event that comes again later has its effect again. Has to "
                    + "be as long as the topics may keep a record, `retention.ms` and `segment.ms` together; the default fits "
                    + "Kafka's, 7 days each"),
    STOP_TIMEOUT(
            "stop.timeout",
            "duration",
            "PT15S",
            "how long undeployment, or the loss of a partition to another instance, waits for the record that is being handled"),
    KAFKA(
            "kafka.*",
            "Kafka consumer settings",
            "",
            "handed to the Kafka consumer, e.g. `twinbox.inbox.kafka.bootstrap.servers` (required), `…kafka.security.protocol`, "
                    + "`…kafka.max.poll.interval.ms`. `session.timeout.ms` is 10000 unless set (Kafka's default is 45000): so long the "
                    + "partitions of an instance that was killed wait for another one; `heartbeat.interval.ms` is a third of it. "
                    + "`fetch.max.wait.ms` is 100 unless set (500; [ADR 29](../adr/0029-room-soon.md)). "
                    + "What the receiver's guarantees rest on is fixed and refused here");

    static final String PREFIX = "twinbox.inbox.";
    static final String KAFKA_PREFIX = PREFIX + "kafka.";
    static final String TOPIC_PREFIX = PREFIX + "topic.";

    private final String name;
    private final String type;
    private final @Nullable String defaultValue;
    private final String meaning;

    Setting(String name, String type, @Nullable String defaultValue, String meaning) {
        this.name = name;
        this.type = type;
        this.defaultValue = defaultValue;
        this.meaning = meaning;
    }

    /** Full name of the key. */
    public String key() {
        return PREFIX + name;
    }

    /** Full name of the key for one topic; for those that can be set by topic. */
    String keyOf(String topic) {
        return TOPIC_PREFIX + topic + "." + name;
    }

    /** What a value looks like, for people. */
    String type() {
        return type;
    }

    /** Empty: unset. Null: the key is required. */
    @Nullable String defaultValue() {
        return defaultValue;
    }

    String meaning() {
        return meaning;
    }

    /** The key as an environment variable, by MicroProfile Config's mapping rule. */
    static String environmentName(String key) {
        return key.replaceAll("[^A-Za-z0-9]", "_").toUpperCase(Locale.ROOT);
    }
}
