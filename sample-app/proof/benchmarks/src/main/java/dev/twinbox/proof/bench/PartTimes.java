package dev.twinbox.proof.bench;

import dev.twinbox.proof.bench.report.Report;
import jakarta.json.Json;
import jakarta.json.JsonObjectBuilder;
import java.util.List;
import java.util.Locale;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * How long the pages of a relay took for one part of their way, by the histogram in its metrics.
 *
 * @param name of the part
 * @param atMost number of pages by the upper limit of their time, in seconds
 */
record PartTimes(String name, NavigableMap<Double, Double> atMost, double seconds, double pages) {

    /** The parts of a page inside a relay, in their order. */
    static final List<String> NAMES = List.of("read", "handover", "answer");

    private static final String METRIC = "twinbox_relay_page_part_seconds";

    /** Of all pages since the relay was started. */
    static PartTimes of(RelayMetrics metrics, String name) {
        String label = "part=\"" + name + '"';
        return new PartTimes(
                name,
                metrics.buckets(METRIC + "_bucket", label),
                metrics.value(METRIC + "_sum", label),
                metrics.value(METRIC + "_count", label));
    }

    PartTimes since(PartTimes before) {
        NavigableMap<Double, Double> later = new TreeMap<>(atMost);
        later.replaceAll((limit, count) -> count - before.atMost.getOrDefault(limit, 0.0));
        return new PartTimes(name, later, seconds - before.seconds, pages - before.pages);
    }

    double meanMillis() {
        return seconds * 1e3 / pages;
    }

    /** Between two limits of the histogram, times are taken as spread evenly. */
    double millis(double percentile) {
        double wanted = pages * percentile / 100;
        double limitBelow = 0;
        double below = 0;
        for (var bucket : atMost.entrySet()) {
            if (bucket.getValue() >= wanted && bucket.getValue() > below) {
                double part = (wanted - below) / (bucket.getValue() - below);
                double limit = bucket.getKey().isInfinite() ? limitBelow : bucket.getKey();
                return 1e3 * (limitBelow + part * (limit - limitBelow));
            }
            limitBelow = bucket.getKey();
            below = bucket.getValue();
        }
        return Double.NaN;
    }

    JsonObjectBuilder json() {
        return Json.createObjectBuilder()
                .add("pages", Math.round(pages))
                .add("mean_ms", Report.rounded(meanMillis()))
                .add("p50_ms", Report.rounded(millis(50)))
                .add("p95_ms", Report.rounded(millis(95)))
                .add("p99_ms", Report.rounded(millis(99)));
    }

    String line(String what) {
        return String.format(
                Locale.ROOT,
                "%-28s p50 %8.2f   p95 %8.2f   p99 %8.2f   mean %9.2f ms, %,.0f pages%n",
                what + ", " + name,
                millis(50),
                millis(95),
                millis(99),
                meanMillis(),
                pages);
    }
}
