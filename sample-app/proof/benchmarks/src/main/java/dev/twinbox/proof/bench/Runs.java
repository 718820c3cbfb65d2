package dev.twinbox.proof.bench;

import dev.twinbox.proof.bench.report.Console;
import dev.twinbox.proof.bench.report.Report;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObjectBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The runs of a benchmark, in order. */
final class Runs {
    private final List<Run> all = new ArrayList<>();

    /** One measured run of one side. */
    private record Run(
            String side,
            int round,
            int events,
            Duration took,
            @Nullable ProcessorTime spent,
            @Nullable ProcessorTime timed) {

        double perSecond() {
            return events / (took.toNanos() / 1e9);
        }

        double timedMicros() {
            return timed == null ? Double.NaN : timed.outboxMicros(events);
        }

        String timedCpu() {
            return timed == null ? "" : "   " + timed.told(events);
        }
    }

    /** Adds a run and prints it. */
    void add(String side, int round, int events, Duration took) {
        add(new Run(side, round, events, took, null, null));
    }

    /** Adds a run with its processor time, and prints it. */
    void add(String side, int round, int events, Duration took, ProcessorTime spent) {
        add(side, round, events, took, spent, null);
    }

    /** @param timed the processor time of the timed part; null if it is not known */
    void add(String side, int round, int events, Duration took, ProcessorTime spent, @Nullable ProcessorTime timed) {
        add(new Run(side, round, events, took, spent, timed));
        Console.say("  " + spent.told(events));
        if (timed != null) {
            Console.say("  in the timed part: " + timed.told(events));
        }
    }

    private void add(Run run) {
        all.add(run);
        Console.say(String.format(
                Locale.ROOT,
                "%s, run %d: %,d in %.3f s = %s",
                run.side,
                run.round,
                run.events,
                run.took.toNanos() / 1e9,
                Console.perSecond(run.perSecond())));
    }

    /** The median rate of a side. Of an even number of runs, it is the lower one of the middle two. */
    double median(String side) {
        List<Double> rates = all.stream()
                .filter(run -> run.side.equals(side))
                .map(Run::perSecond)
                .sorted()
                .toList();
        return rates.get((rates.size() - 1) / 2);
    }

    JsonArrayBuilder json() {
        JsonArrayBuilder array = Json.createArrayBuilder();
        for (Run run : all) {
            JsonObjectBuilder object = Json.createObjectBuilder()
                    .add("side", run.side)
                    .add("run", run.round)
                    .add("events", run.events)
                    .add("seconds", run.took.toNanos() / 1e9)
                    .add("per_s", Math.round(run.perSecond()));
            if (run.spent != null) {
                object.add("cpu_us_per_event", run.spent.json(run.events));
                object.add("processors_busy", Report.rounded(run.spent.busy(run.took)));
            }
            if (run.timed != null) {
                object.add("timed_cpu_us_per_event", run.timed.json(run.events));
            }
            array.add(object);
        }
        return array;
    }

    /**
     * The median processor time of program and PostgreSQL in the timed part, in microseconds per event; not a number if
     * it is not known. Of an even number of runs, it is the lower one of the middle two.
     */
    double medianMicros(String side) {
        Run median = medianByMicros(side);
        return median == null ? Double.NaN : median.timedMicros();
    }

    private @Nullable Run medianByMicros(String side) {
        List<Run> known = all.stream()
                .filter(run -> run.side.equals(side) && run.timed != null)
                .sorted(Comparator.comparingDouble(Run::timedMicros))
                .toList();
        return known.isEmpty() ? null : known.get((known.size() - 1) / 2);
    }

    /**
     * The rate of a side divided by that of another, of each round: the two runs of a round are neighbours, so both meet
     * the same noise of the machine.
     */
    List<Double> ratios(String side, String other) {
        List<Double> ratios = new ArrayList<>();
        for (Run run : all) {
            if (run.side.equals(side)) {
                all.stream()
                        .filter(its -> its.side.equals(other) && its.round == run.round)
                        .forEach(its -> ratios.add(run.perSecond() / its.perSecond()));
            }
        }
        return ratios;
    }

    /** The median of {@link #ratios}. Of an even number, it is the lower one of the middle two. */
    double medianRatio(String side, String other) {
        List<Double> sorted = ratios(side, other).stream().sorted().toList();
        return sorted.get((sorted.size() - 1) / 2);
    }

    /** How many processors a side kept busy in the run of {@link #median}. */
    double processorsBusy(String side) {
        double median = median(side);
        return all.stream()
                .filter(run -> run.side.equals(side) && run.perSecond() == median)
                .mapToDouble(run -> run.spent == null ? Double.NaN : run.spent.busy(run.took))
                .findFirst()
                .orElseThrow();
    }

    /** One line per side: its runs, their median, and the processor time of the run that is the median of these. */
    String table() {
        StringBuilder table = new StringBuilder();
        for (String side : all.stream().map(Run::side).distinct().toList()) {
            table.append(String.format(Locale.ROOT, "%-56s", side));
            all.stream()
                    .filter(run -> run.side.equals(side))
                    .forEach(run ->
                            table.append(String.format(Locale.ROOT, "%12s", Console.perSecond(run.perSecond()))));
            table.append(String.format(Locale.ROOT, "   median %12s", Console.perSecond(median(side))));
            Run median = medianByMicros(side);
            table.append(median == null ? "" : median.timedCpu());
            table.append(System.lineSeparator());
        }
        return table.toString();
    }
}
