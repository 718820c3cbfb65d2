package dev.twinbox.sample.bench;

import dev.twinbox.fixtures.ChildProcessException;
import dev.twinbox.sample.demo.Installation;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The benchmarks' command line: {@code ./sample-app/run bench relay|receive [--rows N]}. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        description = "Measures Twinbox on this machine. Takes a few minutes; let nothing else run meanwhile.",
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            " 0:measured, and fast enough",
            " 1:no figure: a run lost, repeated or reordered something, or failed",
            " 2:wrong arguments, or the tree is not built",
            " 3:measured at full size, but slower than required"
        })
public final class BenchMain implements Callable<Integer> {

    /** Names the top folder of the repository, where the built files are found and {@code target/bench} is written. */
    static final String ROOT_PROPERTY = "twinbox.demo.root";

    /** A machine that needs longer is not one to measure on. */
    private static final Duration LIMIT = Duration.ofMinutes(6);
    /** A try only has to work, be the machine as busy as it may. */
    private static final Duration LIMIT_OF_A_TRY = Duration.ofMinutes(15);

    private static final int MEASURED = 0;
    private static final int INVALID = 1;
    private static final int TOO_SLOW = 3;

    /** What can be measured, and with how many events. */
    enum Name {
        RELAY(500_000) {
            @Override
            Benchmark with(Installation files, int rows, Deadline deadline) {
                return new RelayBenchmark(files, rows, deadline);
            }
        },
        RECEIVE(150_000) {
            @Override
            Benchmark with(Installation files, int rows, Deadline deadline) {
                return new ReceiveBenchmark(files, rows, deadline);
            }
        };

        private final int fullSize;

        Name(int fullSize) {
            this.fullSize = fullSize;
        }

        abstract Benchmark with(Installation files, int rows, Deadline deadline);

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Parameters(paramLabel = "NAME", description = "What to measure: ${COMPLETION-CANDIDATES}.")
    private Name name;

    @Option(
            names = "--rows",
            paramLabel = "N",
            description = "Events per run, for a quick try: the figures then go to a file of their own.")
    private @Nullable Integer rows;

    private BenchMain() {}

    public static void main(String[] args) {
        System.exit(run(args));
    }

    static int run(String... args) {
        return new CommandLine(new BenchMain())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler(BenchMain::explain)
                .execute(args);
    }

    @Override
    public Integer call() throws Exception {
        int events = rows == null ? name.fullSize : rows;
        if (events < 1) {
            throw new CommandLine.ParameterException(new CommandLine(this), "--rows must be at least 1, not " + events);
        }
        Path root =
                Path.of(System.getProperty(ROOT_PROPERTY, "")).toAbsolutePath().normalize();
        Machine.warnIfBusy();
        Deadline deadline = new Deadline(rows == null ? LIMIT : LIMIT_OF_A_TRY);
        Report report = name.with(installation(root), events, deadline).run();
        Path file = root.resolve("target/bench").resolve(rows == null ? name + ".json" : name + "-" + events + ".json");
        report.write(file, root, "./sample-app/run bench " + name + (rows == null ? "" : " --rows " + events));
        System.out.println();
        System.out.println(report.table());
        report.requirements().forEach(System.out::println);
        System.out.println("\nWritten: " + file);
        // A quick try says that the benchmark works, not how fast anything is: JIT and start-up are most of it.
        return rows != null || report.met() ? MEASURED : TOO_SLOW;
    }

    private Installation installation(Path root) {
        try {
            return Installation.in(root);
        } catch (IllegalStateException e) {
            throw new CommandLine.ParameterException(new CommandLine(this), String.valueOf(e.getMessage()), e);
        }
    }

    private static int explain(Exception exception, CommandLine command, CommandLine.ParseResult parsed) {
        if (exception instanceof InvalidRunException || exception instanceof ChildProcessException) {
            System.err.println("No figure: " + exception.getMessage());
            return INVALID;
        }
        exception.printStackTrace();
        return INVALID;
    }
}
