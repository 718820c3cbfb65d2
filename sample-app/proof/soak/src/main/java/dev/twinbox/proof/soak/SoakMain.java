package dev.twinbox.proof.soak;

import dev.twinbox.proof.landscape.BuiltFile;
import dev.twinbox.proof.landscape.Installation;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The soak's command line: {@code ./sample-app/run soak --minutes N --seed S}. */
@Command(
        name = "soak",
        mixinStandardHelpOptions = true,
        description = "Breaks relays, receivers, the producer, brokers, the database and connections at random."
                + " Compares orders, events and shipments meanwhile. Needs 6 GB of memory.",
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            " 0:each committed order was published and shipped once, in order, and nothing else was",
            " 1:something was lost, repeated, invented or out of order, or a process did not recover",
            " 2:wrong arguments, or the tree is not built"
        })
public final class SoakMain implements Callable<Integer> {

    /** The top folder of the repository. It has the built files and gets {@code target/soak}. */
    private static final String ROOT_PROPERTY = "twinbox.root";

    private static final int EXACT = 0;
    private static final int NOT_EXACT = 1;

    @Option(
            names = "--minutes",
            paramLabel = "N",
            defaultValue = "2",
            description = "How long there are faults (default: ${DEFAULT-VALUE}). Start and end take more time.")
    private int minutes;

    @Option(
            names = "--seed",
            paramLabel = "S",
            description = "Selects the faults: the same seed and minutes give the same faults (default: random).")
    private @Nullable Long seed;

    @Option(
            names = "--per-second",
            paramLabel = "N",
            defaultValue = "250",
            description = "Orders per second, if the service answers (default: ${DEFAULT-VALUE}).")
    private int perSecond;

    private SoakMain() {}

    public static void main(String[] args) {
        System.exit(run(args));
    }

    static int run(String... args) {
        return new CommandLine(new SoakMain()).execute(args);
    }

    @Override
    public Integer call() throws Exception {
        requireBetween("--minutes", minutes, 1, 24 * 60);
        requireBetween("--per-second", perSecond, 1, 100_000);
        Path root =
                Path.of(System.getProperty(ROOT_PROPERTY, "")).toAbsolutePath().normalize();
        long chosen = seed == null ? ThreadLocalRandom.current().nextInt(1, Integer.MAX_VALUE) : seed;
        Soak.Options options = new Soak.Options(Duration.ofMinutes(minutes), chosen, perSecond);
        Soak.Outcome outcome = new Soak(installation(root), root, options).run();
        System.out.println();
        System.out.println(Soak.summary(outcome));
        if (!outcome.isExact()) {
            System.out.println("To repeat it: ./sample-app/run soak --minutes " + minutes + " --seed " + chosen);
        }
        return outcome.isExact() ? EXACT : NOT_EXACT;
    }

    private void requireBetween(String option, int value, int least, int most) {
        if (value < least || value > most) {
            throw wrong(option + " must be " + least + " to " + most + ", not " + value, null);
        }
    }

    private Installation installation(Path root) {
        try {
            return Installation.in(root, BuiltFile.SAMPLE);
        } catch (IllegalStateException e) {
            throw wrong(String.valueOf(e.getMessage()), e);
        }
    }

    private CommandLine.ParameterException wrong(String message, @Nullable Throwable cause) {
        return new CommandLine.ParameterException(new CommandLine(this), message, cause);
    }
}
