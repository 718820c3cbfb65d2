package dev.twinbox.proof.bench.report;

import jakarta.json.Json;
import jakarta.json.JsonObjectBuilder;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/** Many measured times. */
public final class Latencies {

    public static final List<String> LABELS = List.of("50", "95", "99", "99.9");

    private static final long LONGEST = 600_000_000_000L;
    private static final int DIGITS = 3;

    private final Histogram histogram = new Histogram(1_000, LONGEST, DIGITS);

    public void add(long nanos) {
        histogram.recordValue(Math.min(nanos, LONGEST));
    }

    public long count() {
        return histogram.getTotalCount();
    }

    /** The times in milliseconds, rounded to a microsecond. */
    public double millis(double percentile) {
        return Math.round(histogram.getValueAtPercentile(percentile) / 1e3) / 1e3;
    }

    double meanMillis() {
        return Math.round(histogram.getMean() / 1e3) / 1e3;
    }

    /** The percentiles of {@link #LABELS}, in milliseconds. */
    public List<Double> percentiles() {
        return LABELS.stream().map(label -> millis(Double.parseDouble(label))).toList();
    }

    public JsonObjectBuilder json() {
        return Json.createObjectBuilder()
                .add("p50_ms", millis(50))
                .add("p95_ms", millis(95))
                .add("p99_ms", millis(99))
                .add("p999_ms", millis(99.9))
                .add("max_ms", millis(100))
                .add("mean_ms", meanMillis());
    }

    public String line(String what) {
        return String.format(
                Locale.ROOT,
                "%-28s p50 %8.2f   p95 %8.2f   p99 %8.2f   p99.9 %8.2f   max %8.2f   mean %8.2f ms%n",
                what,
                millis(50),
                millis(95),
                millis(99),
                millis(99.9),
                millis(100),
                meanMillis());
    }
}
