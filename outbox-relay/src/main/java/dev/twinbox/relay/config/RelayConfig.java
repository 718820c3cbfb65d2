package dev.twinbox.relay.config;

import dev.twinbox.config.Secret;
import dev.twinbox.console.config.HttpConfig;
import dev.twinbox.schema.OutboxSchema;
import dev.twinbox.schema.Retention;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * Everything that can be set on a relay process, parsed and checked. Read once at start, never changed.
 *
 * <p>{@code toString} may be logged: secrets print as stars.
 *
 * @param name names this relay's lease and positions; two processes of one name stand by for each other
 * @param tables where the outbox lives
 * @param database how to reach PostgreSQL
 * @param kafka settings of the Kafka producer
 * @param page how much is read and kept in flight
 * @param delivery how often a reader can meet an event
 * @param lease how long a relay owns its name without renewing it
 * @param idle how long to wait when there is nothing to send
 * @param retry wait between two attempts to reach a database or broker that is away
 * @param parking when events are parked
 * @param http where health and metrics are served
 * @param readyTimeout without progress for longer than this, {@code /health/ready} says DOWN
 * @param shutdownTimeout what SIGTERM grants to the records in flight
 * @param logLevel of the relay's own lines
 * @param logFormat how they are written
 * @param telemetry whether and how spans are told
 * @param retention what {@code migrate} makes of the event table; null: leaves it as it is
 */
public record RelayConfig(
        String name,
        OutboxSchema tables,
        Database database,
        Kafka kafka,
        Page page,
        Delivery delivery,
        Duration lease,
        Idle idle,
        Duration retry,
        Parking parking,
        HttpConfig http,
        Duration readyTimeout,
        Duration shutdownTimeout,
        Level logLevel,
        LogFormat logFormat,
        Telemetry telemetry,
        @Nullable Retention retention) {

    /**
     * How to reach PostgreSQL.
     *
     * @param url a {@code jdbc:postgresql:} URL without credentials
     * @param connectTimeout bound for opening a connection, login included, unless the URL has one
     * @param socketTimeout a connection without an answer for this long is lost, unless the URL has one
     */
    public record Database(
            String url,
            @Nullable String user,
            @Nullable Secret password,
            Duration connectTimeout,
            Duration socketTimeout) {

        @Override
        public String toString() {
            return "Database[url=" + Secret.masked(url) + ", user=" + user + ", password=" + password
                    + ", connectTimeout=" + connectTimeout + ", socketTimeout=" + socketTimeout + ']';
        }
    }

    /**
     * Settings of the Kafka producer.
     *
     * @param settings what the configuration names below {@code twinbox.relay.kafka.}, by Kafka's own names, the prefix
     *     removed; never one of those that the relay fixes
     */
    public record Kafka(Map<String, String> settings) {
        public Kafka {
            settings = Map.copyOf(settings);
        }

        public String bootstrapServers() {
            return settings.getOrDefault("bootstrap.servers", "");
        }

        @Override
        public String toString() {
            Map<String, String> shown = new TreeMap<>(settings);
            shown.replaceAll((key, value) -> Secret.isSecret(key) ? Secret.MASK : value);
            return shown.toString();
        }
    }

    /**
     * How much is read and kept in flight.
     *
     * @param rows most rows of one page
     * @param bytes most payload bytes of one page; a single larger event is a page of its own
     * @param inFlight how much may be read and not yet acknowledged, in pages of {@code bytes}
     */
    public record Page(int rows, int bytes, int inFlight) {
        private static final int MOST_POLLED = 2_000;

        /** Most rows that come with a poll. Larger pages are read only while there is a backlog. */
        public int polledRows() {
            return Math.min(rows, MOST_POLLED);
        }

        /** A row up to this size cannot make a page of {@link #polledRows()} too large. */
        public double share() {
            return (double) bytes / polledRows();
        }
    }

    /**
     * How often a reader can meet an event.
     *
     * @param positionTopic for which Kafka keeps how far the relay is, with exactly-once
     */
    public record Delivery(DeliveryMode mode, String positionTopic) {}

    /** Back-off while idle: starts at {@code min}, doubles up to {@code max}, restarts with the next event. */
    public record Idle(Duration min, Duration max) {}

    /**
     * When events are parked.
     *
     * @param stallTimeout a partition that takes nothing for this long although Kafka answers is worked around
     * @param waitingLimit after this long an operator has to decide about an event that waits for its topic or partition
     * @param pausedRows most events that are set aside for paused topics
     * @param pausedBytes most bytes of them
     */
    public record Parking(Duration stallTimeout, Duration waitingLimit, int pausedRows, int pausedBytes) {}

    /**
     * Whether and how spans are reported.
     *
     * @param settings of OpenTelemetry in the file, by their own names; those of the environment win over them
     */
    public record Telemetry(Map<String, String> settings) {
        /** As in MicroProfile Telemetry, and unlike OpenTelemetry itself: off unless this says {@code false}. */
        static final String DISABLED = "otel.sdk.disabled";

        static final String PREFIX = "otel.";

        public Telemetry {
            settings = Map.copyOf(settings);
        }

        public boolean isOn() {
            return "false".equalsIgnoreCase(settings.get(DISABLED));
        }

        /** Without values: headers for the collector are often secrets. */
        @Override
        public String toString() {
            return (isOn() ? "on" : "off") + new TreeSet<>(settings.keySet());
        }
    }
}
