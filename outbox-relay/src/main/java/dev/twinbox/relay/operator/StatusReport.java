package dev.twinbox.relay.operator;

import dev.twinbox.config.Secret;
import dev.twinbox.console.Json;
import dev.twinbox.jdbc.SqlState;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.Backlog;
import dev.twinbox.relay.jdbc.ClusterCheck;
import dev.twinbox.relay.jdbc.EventSlots;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.ParkedCount;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.jdbc.PausedTopicTable;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable;
import dev.twinbox.relay.jdbc.StartCheck;
import dev.twinbox.relay.kafka.TopicState;
import dev.twinbox.relay.resend.ResendJob;
import dev.twinbox.relay.resend.ResendJson;
import dev.twinbox.relay.resend.ResendTable;
import dev.twinbox.relay.resend.ResendText;
import dev.twinbox.schema.OutboxSchema;
import dev.twinbox.schema.Retention;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObject;
import jakarta.json.JsonObjectBuilder;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/** How the relay of a configuration stands, running or not. Nothing is changed. */
public final class StatusReport {
    private static final String OTHER_CLUSTER = "the position or events are of another cluster, see \"rebase\"";

    /** Learns each line of the screen as soon as it is known, so that a later failure hides nothing. */
    public interface Lines {
        void line(String label, String value);
    }

    private final RelayConfig config;
    private final Connection connection;
    private final Lines lines;
    private final JsonObjectBuilder json = Json.createObjectBuilder();

    private StatusReport(RelayConfig config, Connection connection, Lines lines) {
        this.config = config;
        this.connection = connection;
        this.lines = lines;
    }

    /** The report as one document. */
    public static JsonObject of(RelayConfig config, Connection connection, Lines lines) throws SQLException {
        StatusReport report = new StatusReport(config, connection, lines);
        report.collect();
        return report.json.build();
    }

    private void collect() throws SQLException {
        OutboxDatabase.Server server = OutboxDatabase.identify(connection);
        Position position = new PositionTable(connection, config.tables(), config.name())
                .load()
                .position();
        fact("relay", config.name());
        String url = Secret.masked(config.database().url());
        String identifier = Long.toUnsignedString(server.systemIdentifier());
        lines.line("database", url + ", " + server.role() + ", system identifier " + identifier);
        json.add("database", url);
        json.add("role", server.role().toString());
        json.add("systemIdentifier", identifier);
        fact("tables", config.tables().events() + StartCheck.state(connection, config));
        fact("retention", retention(config, connection));
        slots();
        LeaseTable.@Nullable Seen seen = new LeaseTable(connection, config.tables(), config.name()).look();
        fact("lease", lease(seen));
        fact("delivery", delivery(config, seen));
        Instant paused = new LeaseTable(connection, config.tables(), config.name()).pausedSince();
        lines.line(
                "paused",
                paused == null ? "no" : "since " + paused + ": nothing is sent until \"twinbox-relay resume\"");
        if (paused != null) {
            json.add("pausedSince", paused.toString());
        }
        Set<String> pausedTopics = pausedTopics();
        resend();
        fact("position", position.equals(Position.START) ? "nothing relayed yet" : position.toString());
        lastSave();
        Backlog backlog = backlog(position);
        ParkedCount parked = ParkedCount.of(connection, config.tables(), config.name());
        parked(parked);
        missing(backlog == null ? new TreeSet<>() : backlog.topics(), config.kafka());
        List<String> reasons = reasons(seen, paused);
        if (ClusterCheck.problem(connection, config.tables(), server) != null) {
            reasons.add(OTHER_CLUSTER);
        }
        stuck(reasons, backlog, parked, pausedTopics);
    }

    private Set<String> pausedTopics() throws SQLException {
        SortedMap<String, Instant> topics = new PausedTopicTable(connection, config.tables(), config.name()).topics();
        lines.line(
                "paused topics",
                topics.isEmpty()
                        ? "none"
                        : topics.entrySet().stream()
                                .map(each -> each.getKey() + " since " + each.getValue())
                                .collect(Collectors.joining(", ", "", ": \"twinbox-relay resume --topic\" ends it")));
        JsonArrayBuilder array = Json.createArrayBuilder();
        topics.forEach((topic, since) ->
                array.add(Json.createObjectBuilder().add("topic", topic).add("pausedSince", since.toString())));
        json.add("pausedTopics", array);
        return topics.keySet();
    }

    private void lastSave() throws SQLException {
        Duration saved = new PositionTable(connection, config.tables(), config.name()).sinceLastSave();
        lines.line("last save", saved == null ? "never" : seconds(saved) + " ago");
        age("lastSaveSeconds", saved);
    }

    private void resend() throws SQLException {
        ResendJob job = new ResendTable(connection, config.tables(), config.name()).active();
        lines.line("resend", job == null ? "no job" : ResendText.of(job));
        if (job != null) {
            json.add("resend", ResendJson.job(job));
        }
    }

    /** Null: the server did not answer in time. All other lines are printed nevertheless. */
    private @Nullable Backlog backlog(Position position) throws SQLException {
        try {
            Backlog backlog =
                    Backlog.behind(position, connection, config.tables().events());
            unsent(backlog);
            return backlog;
        } catch (SQLException e) {
            if (!SqlState.QUERY_CANCELED.isOf(e)) {
                throw e;
            }
            lines.line("unsent", "not known: " + e.getMessage());
            json.add("unsentUnknown", String.valueOf(e.getMessage()));
            return null;
        }
    }

    private void unsent(Backlog backlog) {
        lines.line(
                "unsent",
                backlog.events() < Backlog.LIMIT
                        ? backlog.events() + " events"
                        : Backlog.LIMIT + " events or more (counting stops there)");
        json.add("unsent", backlog.events());
        lines.line("oldest unsent", backlog.oldest() == null ? "-" : seconds(backlog.oldest()));
        age("oldestUnsentSeconds", backlog.oldest());
    }

    private static String retention(RelayConfig config, Connection connection) throws SQLException {
        Retention retention = config.tables().retention(connection);
        if (retention == null) {
            return "by a rule of the table's owner";
        }
        return retention.equals(Retention.FOREVER) ? "for ever: nothing is removed" : "slots of " + retention;
    }

    private void slots() throws SQLException {
        EventSlots slots = new EventSlots(connection, config.tables(), config.name());
        int current = slots.current();
        JsonArrayBuilder array = Json.createArrayBuilder();
        for (int slot = 0; slot < OutboxSchema.EVENT_SLOTS; slot++) {
            EventSlots.Size size = slots.size(slot);
            String state = slot == current ? "has its turn" : size.rows() == 0 ? "empty" : waiting(slots, slot);
            lines.line("slot " + slot, size.all() / 1024 + " kB, " + state);
            array.add(Json.createObjectBuilder()
                    .add("slot", slot)
                    .add("bytes", size.all())
                    .add("state", state));
        }
        json.add("slots", array);
    }

    /** What keeps a slot that has had its turn from being emptied, as far as one can see without locking it. */
    private static String waiting(EventSlots slots, int slot) throws SQLException {
        List<String> behind = slots.unsent(slot);
        if (!behind.isEmpty()) {
            return "kept: " + EventSlots.named(behind);
        }
        List<String> holders = slots.holders(slot);
        return holders.isEmpty()
                ? "to be emptied by the running relay"
                : "kept: in use by " + String.join(", ", holders);
    }

    private static String delivery(RelayConfig config, LeaseTable.@Nullable Seen seen) {
        DeliveryMode configured = config.delivery().mode();
        DeliveryMode recorded = seen == null ? configured : seen.delivery();
        String topic = recorded == DeliveryMode.EXACTLY_ONCE
                ? ", position in topic and group " + config.delivery().positionTopic()
                : "";
        return recorded.text()
                + topic
                + (recorded == configured ? "" : "; this configuration says " + configured.text());
    }

    private static String lease(LeaseTable.@Nullable Seen seen) {
        if (seen == null || !seen.taken()) {
            return "never taken: no relay of this name has run here";
        }
        if (seen.owner() == null) {
            return "free (epoch " + seen.epoch() + "): no relay of this name is running";
        }
        String owner = "owner " + seen.owner() + ", epoch " + seen.epoch();
        return seen.remaining().isNegative()
                ? owner + ", ended " + seconds(seen.remaining().negated()) + " ago: its relay is gone or cut off"
                : owner + ", ends in " + seconds(seen.remaining());
    }

    private void parked(ParkedCount count) {
        lines.line(
                "parked",
                count
                        + (count.byState().isEmpty()
                                ? ""
                                : "; \"twinbox-relay parked\" lists, retries and discards them"));
        JsonArrayBuilder states = Json.createArrayBuilder();
        count.byState()
                .forEach((state, number) -> states.add(
                        Json.createObjectBuilder().add("state", state.sql()).add("number", number)));
        json.add("parked", states);
    }

    private void missing(SortedSet<String> topics, RelayConfig.Kafka kafka) {
        SortedMap<String, String> missing = new TreeMap<>();
        try {
            TopicState.of(topics, kafka).forEach((topic, state) -> {
                if (state.problem() != null) {
                    missing.put(topic, state.problem());
                }
            });
        } catch (KafkaException e) {
            String reason = "Kafka at " + kafka.bootstrapServers() + " cannot be asked: " + e.getMessage();
            lines.line("missing topics", "not known, " + reason);
            json.add("missingTopicsUnknown", reason);
            return;
        }
        lines.line(
                "missing topics",
                missing.isEmpty()
                        ? "none"
                        : missing.entrySet().stream()
                                .map(each -> each.getKey() + ": " + each.getValue())
                                .collect(Collectors.joining("; ")));
        JsonArrayBuilder array = Json.createArrayBuilder();
        missing.forEach((topic, reason) ->
                array.add(Json.createObjectBuilder().add("topic", topic).add("reason", reason)));
        json.add("missingTopics", array);
    }

    /** The one line to read first when events do not come. */
    private void stuck(List<String> reasons, @Nullable Backlog backlog, ParkedCount parked, Set<String> pausedTopics) {
        boolean isSending = (backlog == null || backlog.events() > 0) && reasons.isEmpty();
        if (parked.of(ParkedState.REFUSED) > 0) {
            reasons.add("keys with refused events wait for an operator");
        }
        if (!pausedTopics.isEmpty()) {
            reasons.add("an operator has paused topics: " + String.join(", ", pausedTopics));
        }
        String stuck = reasons.isEmpty() ? "no" : String.join("; ", reasons);
        String hint = "; if \"unsent\" does not shrink, the running relay's /health/ready names the cause";
        lines.line("stuck", isSending ? stuck + hint : stuck);
        json.add("stuck", Json.createArrayBuilder(reasons));
    }

    private static List<String> reasons(LeaseTable.@Nullable Seen lease, @Nullable Instant paused) {
        List<String> reasons = new ArrayList<>();
        if (paused != null) {
            reasons.add("an operator has paused the relay");
        }
        if (lease == null || lease.owner() == null || lease.remaining().isNegative()) {
            reasons.add("no relay of this name is running");
        }
        return reasons;
    }

    private void age(String name, @Nullable Duration age) {
        if (age != null) {
            json.add(name, age.toMillis() / 1_000.0);
        }
    }

    private static String seconds(Duration duration) {
        return String.format(Locale.ROOT, "%.1f s", duration.toMillis() / 1_000.0);
    }

    /** The same in both forms. */
    private void fact(String name, String value) {
        lines.line(name, value);
        json.add(name, value);
    }
}
