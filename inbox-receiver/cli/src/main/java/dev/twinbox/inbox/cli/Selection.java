package dev.twinbox.inbox.cli;

import dev.twinbox.console.cli.ParkedOptions;
import dev.twinbox.inbox.jdbc.ParkedSelection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that choose parked events of receivers. */
final class Selection extends ParkedOptions<ParkedSelection> {

    @Option(names = "--group", description = "Only this consumer group.")
    private @Nullable String group;

    @Option(names = "--handler", paramLabel = "NAME", description = "Only this handler.")
    private @Nullable String handler;

    @Override
    protected boolean isMoreGiven() {
        return group != null || handler != null;
    }

    @Override
    protected ParkedSelection selection(@Nullable List<Long> numbers, Values values) {
        return new ParkedSelection(
                numbers,
                group,
                values.topic(),
                values.key(),
                values.type(),
                handler,
                values.error(),
                values.since().time(),
                values.since().age());
    }
}
