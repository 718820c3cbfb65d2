package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.ChildProcessException;
import dev.twinbox.proof.bench.report.Console;
import dev.twinbox.proof.bench.report.Report;
import dev.twinbox.proof.landscape.BuiltFile;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Machine;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The benchmarks' command line: {@code ./sample-app/run bench <name> [--rows N | --minutes N | --seconds N | --kills N]}. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        description = "Measures Twinbox on this machine. Takes a few minutes. Run nothing else meanwhile.",
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            " 0:measured, and fast enough",
            " 1:no figure: a run failed, or lost, repeated or reordered events",
            " 2:wrong arguments, or the tree is not built",
            " 3:measured at full size, but slower than required"
        })
public final class BenchMain implements Callable<Integer> {

    /** The top folder of the repository. It has the built files and gets {@code target/bench}. */
    static final String ROOT_PROPERTY = "twinbox.root";

    static final Set<BuiltFile> FILES =
            Set.of(BuiltFile.RELAY, BuiltFile.INBOX_CLI, BuiltFile.BENCH, BuiltFile.BENCH_DEBEZIUM, BuiltFile.PAYARA);

    /** A try at a smaller size only has to work, on a busy machine as well. */
    private static final Duration LIMIT_OF_A_TRY = Duration.ofMinutes(15);

    private static final int MEASURED = 0;
    private static final int INVALID = 1;
    private static final int TOO_SLOW = 3;

    /** What can be measured, its full size and its time limit. A machine that needs longer is not fit to measure on. */
    enum Name {
        RELAY(
                Unit.ROWS,
                500_000,
                Duration.ofMinutes(45),
                (files, rows, deadline) -> new RelayBenchmark(files, RelayBenchmark.Plan.of(rows), deadline)),
        RECEIVE(Unit.ROWS, 150_000, Duration.ofMinutes(45), ReceiveBenchmark::new),
        DUPLICATES(Unit.ROWS, 150_000, Duration.ofMinutes(10), DuplicatesBenchmark::new),
        GUARD(Unit.ROWS, 1_500, Duration.ofMinutes(20), GuardBenchmark::new),
        LOCKS(Unit.ROWS, 2_000, Duration.ofMinutes(15), LocksBenchmark::new),
        SLOW_KEY(Unit.MINUTES, 10, Duration.ofMinutes(30), SlowKeyBenchmark::new),
        LATENCY(Unit.ROWS, 120_000, Duration.ofMinutes(15), LatencyBenchmark::new),
        HELD_XMIN(Unit.MINUTES, 10, Duration.ofMinutes(40), HeldXminBenchmark::new),
        HISTORY(Unit.ROWS, 10_000_000, Duration.ofMinutes(25), HistoryBenchmark::new),
        BACKLOG(Unit.ROWS, 10_000_000, Duration.ofMinutes(40), BacklogBenchmark::new),
        HOT_KEY(Unit.ROWS, 300_000, Duration.ofMinutes(10), HotKeyBenchmark::new),
        MEMORY(Unit.ROWS, 10_000_000, Duration.ofMinutes(30), MemoryBenchmark::new),
        FAILOVER(Unit.KILLS, 5, Duration.ofMinutes(5), FailoverBenchmark::new),
        RECOVERY(Unit.SECONDS, 60, Duration.ofMinutes(40), RecoveryBenchmark::new),
        WRITE(Unit.ROWS, 20_000, Duration.ofMinutes(12), WriteBenchmark::new);

        private final Unit unit;
        private final int fullSize;
        private final Duration limit;

        @SuppressWarnings("ImmutableEnumChecker") // a constructor, see above
        private final Maker maker;

        Name(Unit unit, int fullSize, Duration limit, Maker maker) {
            this.unit = unit;
            this.fullSize = fullSize;
            this.limit = limit;
            this.maker = maker;
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** The unit of a benchmark's size. */
    enum Unit {
        ROWS,
        MINUTES,
        SECONDS,
        KILLS;

        String option() {
            return "--" + name().toLowerCase(Locale.ROOT);
        }
    }

    /** Creates a benchmark of a given size. */
    private interface Maker {
        Benchmark make(Installation files, int size, Deadline deadline);
    }

    @Parameters(paramLabel = "NAME", description = "What to measure: ${COMPLETION-CANDIDATES}.")
    private Name name;

    @Option(
            names = "--rows",
            paramLabel = "N",
            description = "Events per run, for a quick try. The figures go to a file of their own.")
    private @Nullable Integer rows;

    @Option(
            names = "--minutes",
            paramLabel = "N",
            description = "The same for benchmarks over time: minutes of each side.")
    private @Nullable Integer minutes;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            description = "The same for recovery: seconds before and after each fault.")
    private @Nullable Integer seconds;

    @Option(names = "--kills", paramLabel = "N", description = "The same for failover: number of kills.")
    private @Nullable Integer kills;

    @Option(
            names = "--baseline",
            paramLabel = "JAR",
            description = "For relay and latency: measures the relay of another jar in turns with this one.")
    private @Nullable Path baseline;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            description = "For relay, and for latency with --baseline: how often each side is measured.")
    private @Nullable Integer rounds;

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
        @Nullable Integer chosen = chosenSize();
        int size = chosen == null ? name.fullSize : chosen; // in the name of the file
        Path root =
                Path.of(System.getProperty(ROOT_PROPERTY, "")).toAbsolutePath().normalize();
        if (Machine.isBusy()) {
            Console.say("this machine is busy (load " + Machine.load() + "): the figures will be worth little");
        }
        Deadline deadline = new Deadline(chosen == null ? name.limit : LIMIT_OF_A_TRY);
        Report report = benchmark(installation(root), chosen, deadline).run();
        Path file = root.resolve("target/bench").resolve(chosen == null ? name + ".json" : name + "-" + size + ".json");
        System.out.println();
        System.out.println(report.table());
        report.requirements().forEach(System.out::println);
        report.write(
                file,
                root,
                "./sample-app/run bench " + name + (chosen == null ? "" : " " + name.unit.option() + " " + size)
                        + (baseline == null ? "" : " --baseline " + baseline.getFileName())
                        + (rounds == null ? "" : " --rounds " + rounds));
        System.out.println("\nWritten: " + file + " and " + Report.picture(file));
        // A try shows that the benchmark works, not how fast anything is: it measures mostly start-up and JIT.
        return chosen != null || report.met() ? MEASURED : TOO_SLOW;
    }

    private Benchmark benchmark(Installation files, @Nullable Integer chosen, Deadline deadline) {
        if (baseline != null && !Files.isRegularFile(baseline)) {
            throw wrong(baseline + " is no file: --baseline needs the executable jar of a relay");
        }
        if (name == Name.LATENCY && baseline != null) {
            return new LatencyComparison(
                    files,
                    chosen == null ? LatencyComparison.FULL_SIZE : chosen,
                    rounds == null ? LatencyComparison.ROUNDS : rounds,
                    baseline,
                    deadline);
        }
        if (name != Name.RELAY) {
            if (baseline != null || rounds != null) {
                throw wrong("--baseline and --rounds are for relay and latency, and --rounds of latency needs"
                        + " --baseline; not for " + name);
            }
            return name.maker.make(files, chosen == null ? name.fullSize : chosen, deadline);
        }
        List<Integer> rowsOfRuns = chosen == null ? RelayBenchmark.Plan.FULL.rows() : List.of(chosen);
        int times = rounds == null ? RelayBenchmark.ROUNDS : rounds;
        return new RelayBenchmark(files, new RelayBenchmark.Plan(rowsOfRuns, times, baseline), deadline);
    }

    /** Null if the size is the full size. */
    private @Nullable Integer chosenSize() {
        @Nullable Integer chosen = null;
        for (Unit unit : Unit.values()) {
            @Nullable Integer given = given(unit);
            if (given != null && unit != name.unit) {
                throw wrong(name + " is sized by " + name.unit.option() + ", not by " + unit.option());
            }
            chosen = given == null ? chosen : given;
        }
        if (chosen != null && chosen < 1) {
            throw wrong(name.unit.option() + " must be at least 1, not " + chosen);
        }
        return chosen;
    }

    private @Nullable Integer given(Unit unit) {
        return switch (unit) {
            case ROWS -> rows;
            case MINUTES -> minutes;
            case SECONDS -> seconds;
            case KILLS -> kills;
        };
    }

    private CommandLine.ParameterException wrong(String message) {
        return new CommandLine.ParameterException(new CommandLine(this), message);
    }

    private Installation installation(Path root) {
        try {
            return Installation.in(root, FILES);
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
