package dev.twinbox.console.cli;

import dev.twinbox.console.operator.Since;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * Options that choose parked events. All that is given has to hold.
 *
 * @param <S> a selection of parked events
 */
public abstract class ParkedOptions<S> {

    @Option(names = "--all", description = "All parked events.")
    private boolean all;

    @Option(names = "--topic", description = "Only this topic.")
    private @Nullable String topic;

    @Option(names = "--key", description = "Only this key.")
    private @Nullable String key;

    @Option(names = "--type", description = "Only this type of event.")
    private @Nullable String type;

    @Option(
            names = "--error",
            paramLabel = "TEXT",
            description = "Only events whose error contains this text; case does not count.")
    private @Nullable String error;

    @Option(
            names = "--since",
            paramLabel = "WHEN",
            description =
                    "Only events parked at this time or later, for example 2026-11-29T12:00:00Z, or as a duration "
                            + "back from now, for example PT1H.")
    private @Nullable String since;

    /** The values of the options. */
    protected record Values(
            @Nullable String topic,
            @Nullable String key,
            @Nullable String type,
            @Nullable String error,
            Since since) {}

    /** The selection of these numbers, if there are any, and values. */
    protected abstract S selection(@Nullable List<Long> numbers, Values values);

    /** Whether an option of the subclass is given. */
    protected boolean isMoreGiven() {
        return false;
    }

    private boolean isGiven() {
        return all || topic != null || key != null || type != null || error != null || since != null || isMoreGiven();
    }

    /**
     * Those of the options.
     *
     * @throws IllegalArgumentException if a value is not legal
     */
    public final S read() {
        return read(null);
    }

    /**
     * These events, or those of the options.
     *
     * @throws IllegalArgumentException if there is neither, both, or a value that is not legal
     */
    public final S readRequired(@Nullable List<Long> numbers) {
        boolean isNumbered = numbers != null && !numbers.isEmpty();
        if (isNumbered == isGiven()) {
            throw new IllegalArgumentException(
                    isNumbered
                            ? "Give either numbers or options that select events, not both"
                            : "No events are selected. Give NUMBER…, options that select events such as --topic, or --all");
        }
        return read(isNumbered ? numbers : null);
    }

    private S read(@Nullable List<Long> numbers) {
        return selection(numbers, new Values(topic, key, type, error, Since.parse("--since", since)));
    }
}
