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
import org.jspecify.annotations.Nullable;

/**
 * How long a process's statements took, by PostgreSQL's own log: binding, which includes planning, and execution. The
 * process does not know that it is measured, and all processes are measured in the same way. Only a random part of the
 * statements is logged, so that the log costs nothing.
 */
final class StatementTimes {

    /** Settings of the server: each log line begins with the time. */
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
     * Creates the role with which the process must log in.
     *
     * @param share the part of its statements that is logged, 0 to 1
     */
    static void measure(BenchServers servers, double share) throws SQLException {
        servers.execute(CREATE_ROLE.formatted(servers.postgres().password()));
        for (String setting : LOG_STATEMENTS) {
            servers.execute(setting);
        }
        log(servers, share);
    }

    /** Sets another share, for later sessions. */
    static void log(BenchServers servers, double share) throws SQLException {
        servers.execute(LOG_SHARE.formatted(Double.toString(share)));
    }

    /** Reads the current log of the server. */
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
     * The median of binding plus the median of execution in milliseconds, of statements in a time span that begin with
     * one of these lines. Empty if none was logged.
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
        // Without parameters, binding may be too short to be logged.
        return OptionalDouble.of(rounded(median(executions) + median(times.getOrDefault(Step.BIND, List.of(0.0)))));
    }

    /**
     * When the first of these statements began, in milliseconds since 1970; null if none was logged. A line is written
     * when the statement ends.
     */
    @Nullable Double firstStartMillis(List<String> firstLines, long fromEpochMillis, long toEpochMillis) {
        return entries.stream()
                .filter(entry -> entry.step == Step.EXECUTE
                        && entry.epochMillis >= fromEpochMillis
                        && entry.epochMillis < toEpochMillis
                        && firstLines.contains(entry.statement))
                .map(entry -> entry.epochMillis - entry.millis)
                .min(Double::compare)
                .orElse(null);
    }

    private static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        return sorted.get((sorted.size() - 1) / 2);
    }

    private static double rounded(double millis) {
        return Math.round(millis * 1_000) / 1_000.0;
    }
}
