package dev.twinbox.relay;

import dev.twinbox.config.Secret;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.Backlog;
import dev.twinbox.relay.jdbc.EventSlots;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.ParkedCount;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable;
import dev.twinbox.relay.jdbc.StartCheck;
import dev.twinbox.relay.kafka.MissingTopics;
import dev.twinbox.schema.OutboxSchema;
import dev.twinbox.schema.Retention;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Tells on one screen how the relay stands. */
@Command(
        name = "status",
        description =
                "Tells on one screen how the relay of this configuration stands, running or not. Changes nothing.")
final class StatusCommand implements Callable<Integer> {
    @Mixin
    private ConfigurationOption configuration;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        return configuration.onDatabase((connection, config) -> {
            print(config, connection);
            return ExitCode.OK;
        });
    }

    private void print(RelayConfig config, Connection connection) throws SQLException {
        OutboxDatabase.Server server = OutboxDatabase.identify(connection);
        Position position = new PositionTable(connection, config.tables(), config.name())
                .load()
                .position();
        Backlog backlog = Backlog.behind(position, connection, config.tables().events());
        line("relay", config.name());
        line(
                "database",
                Secret.masked(config.database().url()) + ", " + server.role() + ", system identifier "
                        + Long.toUnsignedString(server.systemIdentifier()));
        line("tables", config.tables().events() + StartCheck.state(connection, config));
        line("retention", retention(config, connection));
        slots(config, connection);
        line("lease", lease(config, connection));
        line("delivery", delivery(config, connection));
        Instant paused = new LeaseTable(connection, config.tables(), config.name()).pausedSince();
        line("paused", paused == null ? "no" : "since " + paused + ": nothing is sent until \"twinbox-relay resume\"");
        line("position", position.equals(Position.START) ? "nothing relayed yet" : position.toString());
        line("last save", lastSave(config, connection));
        line(
                "unsent",
                backlog.events() < Backlog.LIMIT
                        ? backlog.events() + " events"
                        : Backlog.LIMIT + " events or more (counting stops there)");
        line("oldest unsent", age(backlog.oldest()));
        line("parked", parked(config, connection));
        line("missing topics", missing(backlog.topics(), config.kafka()));
        line("stuck", stuck(config, connection, backlog, paused));
    }

    private static String retention(RelayConfig config, Connection connection) throws SQLException {
        Retention retention = config.tables().retention(connection);
        if (retention == null) {
            return "by a rule of the table's owner";
        }
        return retention.equals(Retention.FOREVER) ? "for ever: nothing is removed" : "slots of " + retention;
    }

    private void slots(RelayConfig config, Connection connection) throws SQLException {
        EventSlots slots = new EventSlots(connection, config.tables(), config.name());
        int current = slots.current();
        for (int slot = 0; slot < OutboxSchema.EVENT_SLOTS; slot++) {
            EventSlots.Size size = slots.size(slot);
            String state = slot == current ? "has its turn" : size.rows() == 0 ? "empty" : waiting(slots, slot);
            line("slot " + slot, size.all() / 1024 + " kB, " + state);
        }
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

    private static String delivery(RelayConfig config, Connection connection) throws SQLException {
        LeaseTable.Seen seen = new LeaseTable(connection, config.tables(), config.name()).look();
        DeliveryMode configured = config.delivery().mode();
        DeliveryMode recorded = seen == null ? configured : seen.delivery();
        String topic = recorded == DeliveryMode.EXACTLY_ONCE
                ? ", position in topic and group " + config.delivery().positionTopic()
                : "";
        return recorded.text()
                + topic
                + (recorded == configured ? "" : "; this configuration says " + configured.text());
    }

    private static String lease(RelayConfig config, Connection connection) throws SQLException {
        LeaseTable.Seen seen = new LeaseTable(connection, config.tables(), config.name()).look();
        if (seen == null) {
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

    private static String lastSave(RelayConfig config, Connection connection) throws SQLException {
        Duration age = new PositionTable(connection, config.tables(), config.name()).sinceLastSave();
        return age == null ? "never" : seconds(age) + " ago";
    }

    private static String missing(SortedSet<String> topics, RelayConfig.Kafka kafka) {
        if (topics.isEmpty()) {
            return "none";
        }
        try {
            SortedMap<String, String> missing = MissingTopics.among(topics, kafka);
            return missing.isEmpty()
                    ? "none"
                    : missing.entrySet().stream()
                            .map(each -> each.getKey() + ": " + each.getValue())
                            .collect(Collectors.joining("; "));
        } catch (KafkaException e) {
            return "not known, Kafka at " + kafka.bootstrapServers() + " cannot be asked: " + e.getMessage();
        }
    }

    private static String parked(RelayConfig config, Connection connection) throws SQLException {
        ParkedCount count = ParkedCount.of(connection, config.tables(), config.name());
        return count + (count.byState().isEmpty() ? "" : "; \"twinbox-relay parked\" lists, retries and discards them");
    }

    /** The one line to read first when events do not come. */
    private static String stuck(RelayConfig config, Connection connection, Backlog backlog, @Nullable Instant paused)
            throws SQLException {
        LeaseTable.Seen lease = new LeaseTable(connection, config.tables(), config.name()).look();
        List<String> reasons = new ArrayList<>();
        if (paused != null) {
            reasons.add("an operator has paused the relay");
        }
        if (lease == null || lease.owner() == null || lease.remaining().isNegative()) {
            reasons.add("no relay of this name is running");
        }
        if (lease != null
                && lease.systemIdentifier()
                        != OutboxDatabase.identify(connection).systemIdentifier()) {
            reasons.add("the position is of another cluster, see \"rebase\"");
        }
        if (backlog.events() > 0 && reasons.isEmpty()) {
            return "no; if \"unsent\" does not shrink, the running relay's /health/ready names the cause";
        }
        if (ParkedCount.of(connection, config.tables(), config.name()).of(ParkedState.REFUSED) > 0) {
            reasons.add("keys with refused events wait for a person");
        }
        return reasons.isEmpty() ? "no" : String.join("; ", reasons);
    }

    private static String age(@Nullable Duration age) {
        return age == null ? "-" : seconds(age);
    }

    private static String seconds(Duration duration) {
        return String.format(Locale.ROOT, "%.1f s", duration.toMillis() / 1_000.0);
    }

    private void line(String name, String value) {
        PrintWriter out = spec.commandLine().getOut();
        out.printf("%-15s %s%n", name, value);
        out.flush();
    }
}
