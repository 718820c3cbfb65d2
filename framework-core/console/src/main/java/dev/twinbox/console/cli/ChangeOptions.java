package dev.twinbox.console.cli;

import dev.twinbox.console.operator.JsonText;
import java.io.PrintWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Which parked events a command changes beside those of its {@link ParkedOptions}, and what it prints then. */
public final class ChangeOptions {

    @Parameters(arity = "0..*", paramLabel = "NUMBER", description = "As listed.")
    private @Nullable List<Long> numbers;

    @Option(names = "--dry-run", description = "Only shows how many they are.")
    private boolean isDryRun;

    /** Null: none are given. */
    public @Nullable List<Long> numbers() {
        return numbers;
    }

    public boolean isDryRun() {
        return isDryRun;
    }

    /**
     * Prints how many events were changed, or would be.
     *
     * @param past what was done: {@code retried}
     */
    public void print(PrintWriter out, boolean isJson, String past, long number) {
        out.println(
                isJson
                        ? new JsonText()
                                .with(past, number)
                                .with("dryRun", isDryRun)
                                .build()
                        : number + (isDryRun ? " would be " : " ") + past);
    }
}
