package dev.twinbox.relay;

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
 * @param retry wait between two attempts to reach a database or broker that is away; also bounds the log lines of an outage
 * @param parking when events are set aside
 * @param http where health and metrics are served
 * @param readyTimeout without progress for longer than this, {@code /health/ready} says DOWN
 * @param shutdownTimeout what SIGTERM grants to the records in flight
 * @param logLevel of the relay's own lines
 * @param logFormat how they are written
 * @param telemetry whether and how spans are told
 * @param retention what {@code migrate} makes of the event table; null: leaves it as it is
 */
record RelayConfig(
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
        Http http,
        Duration readyTimeout,
        Duration shutdownTimeout,
        Level logLevel,
        LogFormat logFormat,
        Telemetry telemetry,
        @Nullable Retention retention) {

    /**
     * @param url a {@code jdbc:postgresql:} URL without credentials
     * @param connectTimeout bound for opening a connection, login included
     * @param socketTimeout without an answer for this long a connection counts as lost
     */
    record Database(
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
     * @param settings what the configuration names below {@code twinbox.relay.kafka.}, by Kafka's own names, the prefix
     *     removed; never one of those that the relay fixes
     */
    record Kafka(Map<String, String> settings) {
        Kafka {
            settings = Map.copyOf(settings);
        }

        String bootstrapServers() {
            return settings.getOrDefault("bootstrap.servers", "");
        }

        @Override
        public String toString() {
            Map<String, String> shown = new TreeMap<>(settings);
            shown.replaceAll((key, value) -> KafkaSettings.isSecret(key) ? Secret.MASK : value);
            return shown.toString();
        }
    }

    /**
     * @param rows most rows of one page
     * @param bytes most payload bytes of one page; a single larger event is a page of its own
     * @param inFlight how much may be read and not yet acknowledged, in pages of {@code bytes}
     */
    record Page(int rows, int bytes, int inFlight) {}

    /** @param positionTopic for which Kafka keeps how far the relay is, with exactly-once */
    record Delivery(DeliveryMode mode, String positionTopic) {}

    /** Back-off while idle: starts at {@code min}, doubles up to {@code max}, restarts with the next event. */
    record Idle(Duration min, Duration max) {}

    /**
     * @param stallTimeout a partition that takes nothing for this long although Kafka answers is worked around
     * @param waitingLimit after this long a person has to decide about an event that waits for its topic or partition
     */
    record Parking(Duration stallTimeout, Duration waitingLimit) {}

    /** @param settings of OpenTelemetry in the file, by their own names; those of the environment win over them */
    record Telemetry(Map<String, String> settings) {
        /** As in MicroProfile Telemetry, and unlike OpenTelemetry itself: off unless this says {@code false}. */
        static final String DISABLED = "otel.sdk.disabled";

        static final String PREFIX = "otel.";

        Telemetry {
            settings = Map.copyOf(settings);
        }

        boolean isOn() {
            return "false".equalsIgnoreCase(settings.get(DISABLED));
        }

        /** Without values: headers for the collector are often secrets. */
        @Override
        public String toString() {
            return (isOn() ? "on" : "off") + new TreeSet<>(settings.keySet());
        }
    }

    /** @param port 0 = any free port, named in the log */
    record Http(String host, int port) {}
}
