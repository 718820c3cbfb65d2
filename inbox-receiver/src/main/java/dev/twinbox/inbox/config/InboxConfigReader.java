package dev.twinbox.inbox.config;

import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.ParkedEvent.State;
import dev.twinbox.inbox.event.Origin;
import dev.twinbox.inbox.event.TopicFormat;
import dev.twinbox.inbox.event.TopicFormat.Wrapping;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.inbox.jdbc.Backoff;
import dev.twinbox.inbox.jdbc.RetentionTable;
import dev.twinbox.jdbc.SqlIdentifier;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.eclipse.microprofile.config.Config;
import org.jspecify.annotations.Nullable;

/** Reads and checks the configuration of the receiver. Collects all problems instead of stopping at the first. */
public final class InboxConfigReader {
    private static final String ID_PLACES =
            "cloudevent, header:NAME, key, coordinates, or json-pointer: and a JSON pointer such as /order/id";

    private static final String TYPE_PLACES =
            "cloudevent, header:NAME, fixed:TYPE, or json-pointer: and a JSON pointer such as /type";

    private static final Duration SHORTEST = Duration.ofMillis(1);
    private static final Duration LONGEST = Duration.ofDays(1);
    private static final Duration SHORTEST_RETENTION = Duration.ofSeconds(1);
    private static final Duration LONGEST_RETENTION = Duration.ofDays(36_500);

    private final Config config;
    private final Set<String> topics;
    private final List<String> problems = new ArrayList<>();

    private InboxConfigReader(Config config, Set<String> topics) {
        this.config = config;
        this.topics = topics;
    }

    /**
     * Reads the configuration.
     *
     * @param topics those that the application reads
     * @throws InvalidConfigurationException names every key that is unknown, missing or has a value that cannot work
     */
    public static InboxConfig read(Config config, Set<String> topics) {
        return new InboxConfigReader(config, topics).read();
    }

    private InboxConfig read() {
        problems.addAll(new UnknownKeys(propertyNames(), topics).problems());
        String group = text(Setting.GROUP);
        String dataSource = text(Setting.DATA_SOURCE);
        @Nullable SqlIdentifier table = inboxTable();
        InboxConfig.Batch batch =
                new InboxConfig.Batch(integer(Setting.BATCH_SIZE, 1, 10_000), duration(Setting.BATCH_MAX_TIME));
        int workers = integer(Setting.WORKERS, 1, 256);
        InboxConfig.Lanes lanes = lanes(workers);
        InboxConfig.Buffer buffer = buffer();
        Backoff backoff = backoff(Setting.RETRY_INITIAL, Setting.RETRY_MAX);
        InboxConfig.@Nullable Parking parking = parking();
        @Nullable Duration retention = retention();
        Duration stopTimeout = duration(Setting.STOP_TIMEOUT);
        TopicFormat.OfTopics formats = formats();
        UnknownType unknownType = unknownType();
        Map<String, String> kafka = kafka();
        problems.addAll(ConsumerSettings.problems(kafka));
        refuseEqualNames(table, parking);
        if (!problems.isEmpty() || table == null || parking == null) {
            throw new InvalidConfigurationException("Configuration of the inbox", problems);
        }
        return new InboxConfig(
                group,
                dataSource,
                table,
                batch,
                workers,
                lanes,
                buffer,
                backoff,
                parking,
                retention,
                stopTimeout,
                formats,
                unknownType,
                kafka);
    }

    private void refuseEqualNames(@Nullable SqlIdentifier table, InboxConfig.@Nullable Parking parking) {
        if (table != null && parking != null && table.equals(parking.table())) {
            problems.add(Setting.PARKED_TABLE.key() + " is \"" + table.name() + "\", as " + Setting.TABLE.key()
                    + "; they have to be different names");
        }
    }

    private InboxConfig.Lanes lanes(int workers) {
        int before = problems.size();
        InboxConfig.Lanes lanes =
                new InboxConfig.Lanes(integer(Setting.LANES, 1, 64), integer(Setting.LANES_AHEAD, 1, 1_000_000));
        if (problems.size() == before && lanes.number() > workers) {
            problems.add(Setting.LANES.key() + " is " + lanes.number() + ", more than " + Setting.WORKERS.key()
                    + " " + workers
                    + ", so some would never run; raise the latter, and the data source's pool with it");
        }
        return lanes;
    }

    private InboxConfig.Buffer buffer() {
        int before = problems.size();
        InboxConfig.Buffer buffer = new InboxConfig.Buffer(
                integer(Setting.PARTITION_BYTES, 1024, Integer.MAX_VALUE),
                integer(Setting.TOTAL_BYTES, 1024, Integer.MAX_VALUE));
        if (problems.size() == before && buffer.partitionBytes() > buffer.totalBytes()) {
            problems.add(Setting.PARTITION_BYTES.key() + " is " + buffer.partitionBytes() + ", more than "
                    + Setting.TOTAL_BYTES.key() + " " + buffer.totalBytes() + ": lower it");
        }
        return buffer;
    }

    private InboxConfig.@Nullable Parking parking() {
        @Nullable SqlIdentifier table = table(Setting.PARKED_TABLE);
        int quickTries = integer(Setting.QUICK_TRIES, 1, 100);
        int attempts = integer(Setting.PARKED_ATTEMPTS, 1, 1_000_000);
        Backoff backoff = backoff(Setting.PARKED_RETRY_INITIAL, Setting.PARKED_RETRY_MAX);
        State whenDead = whenDead();
        return table == null ? null : new InboxConfig.Parking(table, quickTries, attempts, backoff, whenDead);
    }

    private TopicFormat.OfTopics formats() {
        TopicFormat common = new TopicFormat(
                origin(Setting.EVENT_ID.key(), text(Setting.EVENT_ID), Origin::ofId, ID_PLACES),
                origin(Setting.EVENT_TYPE.key(), text(Setting.EVENT_TYPE), Origin::ofType, TYPE_PLACES),
                wrapping(Setting.VALUE_FORMAT.key(), text(Setting.VALUE_FORMAT)));
        Map<String, TopicFormat> own = new TreeMap<>();
        for (String topic : topics) {
            TopicFormat format = new TopicFormat(
                    ofTopic(Setting.EVENT_ID, topic)
                            .map(value -> origin(Setting.EVENT_ID.keyOf(topic), value, Origin::ofId, ID_PLACES))
                            .orElse(common.id()),
                    ofTopic(Setting.EVENT_TYPE, topic)
                            .map(value -> origin(Setting.EVENT_TYPE.keyOf(topic), value, Origin::ofType, TYPE_PLACES))
                            .orElse(common.type()),
                    ofTopic(Setting.VALUE_FORMAT, topic)
                            .map(value -> wrapping(Setting.VALUE_FORMAT.keyOf(topic), value))
                            .orElse(common.value()));
            if (!format.equals(common)) {
                own.put(topic, format);
            }
        }
        return new TopicFormat.OfTopics(common, own);
    }

    private Optional<String> ofTopic(Setting setting, String topic) {
        return config.getOptionalValue(setting.keyOf(topic), String.class);
    }

    private Origin origin(String key, String value, Function<String, @Nullable Origin> parser, String places) {
        Origin origin = parser.apply(value.trim());
        if (origin == null) {
            problems.add(key + " is \"" + value + "\"; it has to be " + places);
            return Origin.Attribute.ID;
        }
        return origin;
    }

    private Wrapping wrapping(String key, String value) {
        return switch (value.trim()) {
            case "plain" -> Wrapping.NONE;
            case "connect-json" -> Wrapping.CONNECT_JSON;
            default -> {
                problems.add(key + " is \"" + value + "\"; it has to be plain or connect-json");
                yield Wrapping.NONE;
            }
        };
    }

    private State whenDead() {
        String value = text(Setting.PARKED_WHEN_DEAD);
        return switch (value) {
            case "block-key" -> State.DEAD;
            case "pass-key" -> State.PASSED;
            default -> {
                problems.add(
                        Setting.PARKED_WHEN_DEAD.key() + " is \"" + value + "\"; it has to be block-key or pass-key");
                yield State.DEAD;
            }
        };
    }

    private UnknownType unknownType() {
        String value = text(Setting.UNKNOWN_TYPE);
        return switch (value) {
            case "skip" -> UnknownType.SKIP;
            case "park" -> UnknownType.PARK;
            default -> {
                problems.add(Setting.UNKNOWN_TYPE.key() + " is \"" + value + "\"; it has to be skip or park");
                yield UnknownType.SKIP;
            }
        };
    }

    private Backoff backoff(Setting initial, Setting max) {
        int before = problems.size();
        Backoff backoff = new Backoff(duration(initial), duration(max));
        // Of a value that is none, nothing but that is to be said.
        if (problems.size() == before && backoff.initial().compareTo(backoff.max()) > 0) {
            problems.add(initial.key() + " is " + backoff.initial() + ", more than " + max.key() + " " + backoff.max()
                    + ": lower it");
        }
        return backoff;
    }

    private List<String> propertyNames() {
        List<String> names = new ArrayList<>();
        config.getPropertyNames().forEach(names::add);
        return names;
    }

    private @Nullable SqlIdentifier table(Setting name) {
        String schema = text(Setting.SCHEMA);
        try {
            return new SqlIdentifier(schema.isEmpty() ? null : schema, text(name));
        } catch (IllegalArgumentException e) {
            problems.add(Setting.SCHEMA.key() + ", " + name.key() + ": " + e.getMessage());
            return null;
        }
    }

    /** Other tables are named after it. */
    private @Nullable SqlIdentifier inboxTable() {
        @Nullable SqlIdentifier table = table(Setting.TABLE);
        if (table != null) {
            try {
                RetentionTable.name(table);
            } catch (IllegalArgumentException e) {
                problems.add(Setting.TABLE.key()
                        + " is too long, another table is named after it; choose a shorter name: " + e.getMessage());
                return null;
            }
        }
        return table;
    }

    private String text(Setting setting) {
        String value = config.getOptionalValue(setting.key(), String.class).orElse(setting.defaultValue());
        if (value == null) {
            problems.add(setting.key() + " is not set; set it: " + setting.meaning());
            return "";
        }
        return value;
    }

    private int integer(Setting setting, int least, int most) {
        String value = text(setting);
        try {
            int number = Integer.parseInt(value.trim());
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        problems.add(
                setting.key() + " is \"" + value + "\"; it has to be a whole number from " + least + " to " + most);
        return least;
    }

    private Duration duration(Setting setting) {
        String value = text(setting);
        Duration duration = duration(value, SHORTEST, LONGEST);
        if (duration != null) {
            return duration;
        }
        problems.add(setting.key() + " is \"" + value + "\"; it has to be an ISO-8601 duration from " + SHORTEST
                + " to " + LONGEST + ", for example PT5S");
        return SHORTEST;
    }

    private @Nullable Duration retention() {
        String value = text(Setting.RETENTION);
        if (value.trim().equals(InboxConfig.FOR_EVER)) {
            return null;
        }
        Duration duration = duration(value, SHORTEST_RETENTION, LONGEST_RETENTION);
        if (duration == null) {
            problems.add(Setting.RETENTION.key() + " is \"" + value + "\"; it has to be " + InboxConfig.FOR_EVER
                    + " or an ISO-8601 duration from " + SHORTEST_RETENTION + " to "
                    + InboxConfig.text(LONGEST_RETENTION) + ", for example P15D");
        }
        return duration;
    }

    /** Null: it is none, or out of bounds. */
    private static @Nullable Duration duration(String value, Duration shortest, Duration longest) {
        try {
            Duration duration = Duration.parse(value.trim());
            return duration.compareTo(shortest) >= 0 && duration.compareTo(longest) <= 0 ? duration : null;
        } catch (DateTimeParseException e) {
            return null;
        }
    }

    /**
     * Asks for each of Kafka's names besides taking those that are listed: a source such as the environment answers
     * for {@code twinbox.inbox.kafka.bootstrap.servers} without listing it.
     */
    private Map<String, String> kafka() {
        Set<String> names = new TreeSet<>(ConsumerSettings.names());
        for (String name : propertyNames()) {
            if (name.startsWith(Setting.KAFKA_PREFIX)) {
                names.add(name.substring(Setting.KAFKA_PREFIX.length()));
            }
        }
        Map<String, String> values = new HashMap<>();
        for (String name : names) {
            config.getOptionalValue(Setting.KAFKA_PREFIX + name, String.class)
                    .ifPresent(value -> values.put(name, value));
        }
        return new TreeMap<>(values);
    }
}
