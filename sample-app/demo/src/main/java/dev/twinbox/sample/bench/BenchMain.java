package dev.twinbox.sample.bench;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/** The command {@code bench <name>} of {@code sample-app/run}: runs one benchmark by its name. */
public final class BenchMain {

    private static final int WRONG_USE = 2;

    /** All benchmarks: a new one is a line here. */
    private static final Map<String, Benchmark> BENCHMARKS = new TreeMap<>(Map.of());

    private BenchMain() {}

    /** One benchmark. */
    @FunctionalInterface
    interface Benchmark {
        /**
         * Runs to its end, prints its result and writes it to {@code target/bench/<name>.json}.
         *
         * @param arguments what follows the name on the command line
         * @return the exit code, 0 = measured
         * @throws Exception if it cannot be measured
         */
        int run(String[] arguments) throws Exception;
    }

    /** Runs the benchmark that the first argument names. */
    public static void main(String[] arguments) throws Exception {
        Benchmark benchmark = arguments.length == 0 ? null : BENCHMARKS.get(arguments[0]);
        if (benchmark == null) {
            System.err.println("Usage: sample-app/run bench <name>, where <name> is one of: "
                    + String.join(", ", BENCHMARKS.keySet()));
            System.exit(WRONG_USE);
        } else {
            System.exit(benchmark.run(Arrays.copyOfRange(arguments, 1, arguments.length)));
        }
    }
}
