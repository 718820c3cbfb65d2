package dev.twinbox.relay;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.jdbc.PausedTopicTable;
import dev.twinbox.relay.operator.OperatorActions;
import java.io.PrintWriter;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Ends what {@link PauseCommand} began. */
@Command(
        name = "resume",
        description =
                "Makes a paused relay send again, from where it stopped. With --topic, the events of these topics "
                        + "are sent that were set aside, in order.")
final class ResumeCommand implements Callable<Integer> {
    @Mixin
    private ConfigurationOption configuration;

    @Option(
            names = "--topic",
            paramLabel = "TOPIC",
            description = "Resumes this topic only. May be given several times.")
    private Set<String> topics = new LinkedHashSet<>();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        return configuration.onDatabase((connection, config) -> {
            OperatorActions actions = OperatorActions.onCommandLine(config, connection);
            PrintWriter out = spec.commandLine().getOut();
            if (topics.isEmpty()) {
                boolean wasPaused = actions.resume();
                out.println("relay \"" + config.name() + "\" " + outcome(wasPaused));
                Set<String> paused = new PausedTopicTable(connection, config.tables(), config.name())
                        .topics()
                        .keySet();
                if (!paused.isEmpty()) {
                    out.println("topics that stay paused: " + String.join(", ", paused));
                }
            } else {
                Set<String> resumed = actions.resumeTopics(topics);
                topics.forEach(topic -> out.println("topic \"" + topic + "\" of relay \"" + config.name() + "\" "
                        + outcome(resumed.contains(topic))));
            }
            out.flush();
            return ExitCode.OK;
        });
    }

    private static String outcome(boolean wasPaused) {
        return wasPaused ? "is resumed" : "was not paused";
    }
}
