package dev.twinbox.proof.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How long statements of a process under test took, as PostgreSQL says in its own log: binding, which plans, and execution. The
 * process need not know that it is measured, and every process is measured in the same way. A part of the statements is logged,
 * at random, so that the log itself costs nothing.
 */
final class StatementTimes {

    /** For the server: each line of the log begins with the time. */
    static final Map<String, String> SERVER_SETTINGS = Map.of("log_line_prefix", "%n ");

    static final String ROLE = "measured";

    private static final String CREATE_ROLE = """
            -- bench: a role whose statements are timed
            create role measured superuser login password '%s'""";

    private static final List<String> LOG_STATEMENTS = List.of(
            "alter role measured set log_min_duration_sample = 0",
            "alter role measured set log_parameter_max_length = 0");

    private static final String LOG_SHARE = "alter role measured set log_statement_sample_rate = %s";

    private static final Pattern LINE =
            Pattern.compile("(\\d+\\.\\d+) LOG:  duration: (\\d+\\.\\d+) ms  (bind|execute) [^:]*: (.*)");

    private enum Step {
        BIND,
        EXECUTE
    }

    /** One line of the log. */
    private record Entry(long epochMillis, double millis, Step step, String statement) {}

    private final List<Entry> entries;

    private StatementTimes(List<Entry> entries) {
        this.entries = entries;
    }

    /**
     * Creates the role under which the process has to log in.
     *
     * @param share of its statements that are logged, 0 to 1
     */
    static void measure(BenchServers servers, double share) throws SQLException {
        servers.execute(CREATE_ROLE.formatted(servers.postgres().password()));
        for (String setting : LOG_STATEMENTS) {
            servers.execute(setting);
        }
        log(servers, share);
    }

    /** Another share, for sessions that begin later. */
    static void log(BenchServers servers, double share) throws SQLException {
        servers.execute(LOG_SHARE.formatted(Double.toString(share)));
    }

    /** Reads the server's log as it is now. */
    static StatementTimes in(Path log) throws IOException {
        List<Entry> entries = new ArrayList<>();
        try (BufferedReader lines = Files.newBufferedReader(log)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Matcher matcher = LINE.matcher(line);
                if (matcher.matches()) {
                    entries.add(new Entry(
                            Math.round(Double.parseDouble(matcher.group(1)) * 1_000),
                            Double.parseDouble(matcher.group(2)),
                            matcher.group(3).equals("bind") ? Step.BIND : Step.EXECUTE,
                            matcher.group(4).trim().intern()));
                }
            }
        }
        return new StatementTimes(entries);
    }

    /**
     * The median of binding plus the median of execution, in milliseconds, of the statements that began with one of these
     * lines in a span of time; empty if none was logged.
     */
    OptionalDouble medianMillis(List<String> firstLines, long fromEpochMillis, long toEpochMillis) {
        Map<Step, List<Double>> times = new EnumMap<>(Step.class);
        for (Entry entry : entries) {
            if (entry.epochMillis >= fromEpochMillis
                    && entry.epochMillis < toEpochMillis
                    && firstLines.contains(entry.statement)) {
                times.computeIfAbsent(entry.step, step -> new ArrayList<>()).add(entry.millis);
            }
        }
        List<Double> executions = times.get(Step.EXECUTE);
        if (executions == null) {
            return OptionalDouble.empty();
        }
        // Without parameters there may be nothing to bind that takes long enough to be logged.
        return OptionalDouble.of(rounded(median(executions) + median(times.getOrDefault(Step.BIND, List.of(0.0)))));
    }

    private static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        return sorted.get((sorted.size() - 1) / 2);
    }

    private static double rounded(double millis) {
        return Math.round(millis * 1_000) / 1_000.0;
    }
}
