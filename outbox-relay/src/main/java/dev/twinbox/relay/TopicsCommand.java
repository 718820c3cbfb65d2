package dev.twinbox.relay;

import dev.twinbox.console.cli.TextLine;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.kafka.TopicState;
import dev.twinbox.relay.operator.TopicsReport;
import java.io.PrintWriter;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Lists what the relay knows of each topic. */
@Command(
        name = "topics",
        description =
                "Lists the topics of unsent, parked and the newest events: what waits for them, and how they are on "
                        + "Kafka. Changes nothing.")
final class TopicsCommand implements Callable<Integer> {
    private static final String COLUMNS = "TOPIC\tUNSENT\tPARKED\tPAUSED\tKAFKA";

    @Mixin
    private ConfigurationOption configuration;

    @Spec
    private CommandSpec spec;

    @Option(names = "--json", description = "Prints one JSON document.")
    private boolean isJson;

    @Override
    public Integer call() {
        ConfigurationOption.Work work = (connection, config) -> {
            TopicsReport report = TopicsReport.of(config, connection);
            PrintWriter out = spec.commandLine().getOut();
            (isJson ? Stream.of(report.json().toString()) : text(report)).forEach(out::println);
            out.flush();
            return ExitCode.OK;
        };
        return isJson ? configuration.onDatabaseForJson(work) : configuration.onDatabase(work);
    }

    private static Stream<String> text(TopicsReport report) {
        Stream.Builder<String> lines = Stream.builder();
        lines.add(report.topics().isEmpty() ? "0 topics" : COLUMNS);
        report.topics().forEach((name, line) -> lines.add(text(name, line)));
        if (report.pausedSince() != null) {
            lines.add("Nothing is sent: an operator has paused the relay at " + report.pausedSince());
        }
        if (report.isCut()) {
            lines.add("There is more: counting stops at 10,000 events");
        }
        if (report.kafkaUnknown() != null) {
            lines.add(report.kafkaUnknown());
        }
        return lines.build();
    }

    private static String text(String name, TopicsReport.Line line) {
        String paused = line.pausedSince() == null ? "-" : "since " + line.pausedSince();
        return TextLine.of(name, line.hasUnsent() ? "yes" : "-", parked(line.parked()), paused, kafka(line.state()));
    }

    private static String parked(Map<ParkedState, Integer> parked) {
        return parked.isEmpty()
                ? "-"
                : parked.entrySet().stream()
                        .map(each -> each.getValue() + " " + each.getKey().sql())
                        .collect(Collectors.joining(", "));
    }

    private static String kafka(@Nullable TopicState state) {
        if (state == null) {
            return "not known";
        }
        if (state.problem() != null) {
            return state.problem();
        }
        String leaderless = state.leaderless().isEmpty() ? "" : ", without a leader: " + state.leaderless();
        return state.partitions() + " partitions" + leaderless;
    }
}
