package dev.twinbox.inbox.cli;

import dev.twinbox.inbox.console.PauseSelection;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that say what is paused or resumed. */
final class PauseOptions {

    @Option(names = "--topic", paramLabel = "TOPIC", description = "This topic. May be given several times.")
    private Set<String> topics = new LinkedHashSet<>();

    @Option(names = "--handler", paramLabel = "NAME", description = "This handler. May be given several times.")
    private Set<String> handlers = new LinkedHashSet<>();

    @Option(names = "--group", description = "Only of this consumer group; default: of each that has them.")
    private @Nullable String group;

    /** @throws IllegalArgumentException if nothing is selected, or a name is illegal */
    PauseSelection selection() {
        if (topics.isEmpty() && handlers.isEmpty()) {
            throw new IllegalArgumentException("Nothing is selected: give --topic or --handler");
        }
        return PauseSelection.of(topics, handlers, group);
    }
}
