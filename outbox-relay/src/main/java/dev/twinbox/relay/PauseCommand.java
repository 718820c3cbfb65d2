package dev.twinbox.relay;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelaySettings;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.PausedTopicTable;
import dev.twinbox.relay.kafka.TopicState;
import dev.twinbox.relay.operator.OperatorActions;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.Callable;
import org.apache.kafka.common.KafkaException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Makes the relay send nothing, or nothing to some topics, until told otherwise. */
@Command(
        name = "pause",
        description =
                "Makes the relay of this configuration send nothing, whether it runs now or is started later, until "
                        + "\"resume\". It keeps its lease, and says so in its readiness and in \"status\". With --topic, "
                        + "only events of these topics wait, and all others are sent.")
final class PauseCommand implements Callable<Integer> {
    @Mixin
    private ConfigurationOption configuration;

    @Option(
            names = "--topic",
            paramLabel = "TOPIC",
            description = "Pauses this topic only. May be given several times. The topic need not exist.")
    private Set<String> topics = new LinkedHashSet<>();

    @Spec
    private CommandSpec spec;

    /** A mistyped name would otherwise seem to be paused, while the right one sends. */
    private static String ifNew(LeaseTable lease) throws SQLException {
        LeaseTable.Seen seen = lease.look();
        if (seen != null && seen.taken()) {
            return "";
        }
        List<String> known = lease.names();
        return ". No relay of this name has run here yet: check " + RelaySettings.NAME.key() + ". Known names: "
                + (known.isEmpty() ? "none" : String.join(", ", known));
    }

    @Override
    public Integer call() {
        return configuration.onDatabase((connection, config) -> {
            OperatorActions actions = OperatorActions.onCommandLine(config, connection);
            LeaseTable lease = new LeaseTable(connection, config.tables(), config.name());
            if (topics.isEmpty()) {
                actions.pause();
                print("relay \"" + config.name() + "\" is paused since " + lease.pausedSince()
                        + "; a running one stops within a second" + ifNew(lease));
            } else {
                actions.pauseTopics(topics);
                printTopics(connection, config, ifNew(lease));
                warnOfMissing(config);
            }
            return ExitCode.OK;
        });
    }

    private void printTopics(Connection connection, RelayConfig config, String end) throws SQLException {
        SortedMap<String, Instant> since = new PausedTopicTable(connection, config.tables(), config.name()).topics();
        for (String topic : topics) {
            print("topic \"" + topic + "\" of relay \"" + config.name() + "\" is paused since " + since.get(topic)
                    + "; a running one sets its events aside within a second" + end);
        }
    }

    /** A mistyped topic would otherwise seem to be paused, while the right one is sent to. */
    private void warnOfMissing(RelayConfig config) {
        try {
            TopicState.of(topics, config.kafka()).forEach((topic, state) -> {
                if (state.problem() != null) {
                    print("check the name: Kafka does not show topic \"" + topic + "\" (" + state.problem() + ')');
                }
            });
        } catch (KafkaException e) {
            print("whether Kafka has the topics is not known: " + e.getMessage());
        }
    }

    private void print(String line) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(line);
        out.flush();
    }
}
