package dev.twinbox.proof.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import dev.twinbox.proof.bench.report.Report;
import dev.twinbox.proof.landscape.BuiltFile;
import dev.twinbox.proof.landscape.Installation;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * The benchmarks with few events, to see that they work. The figures mean nothing. Two of them run all their parts in
 * each proof; the others run with {@code -Dtwinbox.it.bench=true}.
 */
@Tag("proof")
class BenchIT {

    /** Each takes a minute or more of two processors, and some refuse to run on a busy machine. */
    private static final String BY_HAND = "twinbox.it.bench";

    @Test
    void theRelayBenchmarkRunsAllSidesInTurnsAndComputesTheirRatios() throws Exception {
        JsonObject figures = new RelayBenchmark(
                        files(), new RelayBenchmark.Plan(List.of(5_000, 6_000), 1, null), aWhile())
                .run()
                .figures();

        assertThat(figures.getJsonArray("runs")).hasSize(5);
        assertThat(figures.getInt("producer_per_s")).isPositive();
        assertThat(figures.getInt("relay_per_s")).isPositive();
        assertRatio(figures, "ratio", "relay_per_s", "producer_per_s");
        assertRatio(figures, "exactly_once_ratio", "exactly_once_per_s", "producer_per_s");
        assertRatio(figures, "skip_locked_ratio", "relay_per_s", "skip_locked_per_s");
        assertRatio(figures, "debezium_ratio", "relay_per_s", "debezium_per_s");
        assertThat(figures.getJsonObject("producer_settings").getString("compression.type"))
                .isEqualTo("lz4");
        assertThat(figures.getJsonObject("plain_copy").getInt("per_s")).isPositive();
        assertThat(figures.getJsonObject("rows_6000").getJsonArray("runs"))
                .hasSize(3)
                .allSatisfy(run -> assertThat(run.asJsonObject()
                                .getJsonObject("timed_cpu_us_per_event")
                                .getJsonNumber("sender")
                                .doubleValue())
                        .isPositive());
    }

    @Test
    @EnabledIfSystemProperty(named = BY_HAND, matches = "true")
    void theRelayBenchmarkRunsAnotherRelayInTurnsWithThisOne() throws Exception {
        RelayBenchmark.Plan plan = new RelayBenchmark.Plan(List.of(5_000), 1, files().file(BuiltFile.RELAY));

        JsonObject figures = new RelayBenchmark(files(), plan, aWhile()).run().figures();

        assertThat(figures.getJsonArray("runs")).hasSize(5);
        JsonObject baseline = figures.getJsonObject("baseline");
        assertThat(baseline.getJsonNumber("ratio").doubleValue())
                .isCloseTo(figures.getInt("relay_per_s") / (double) baseline.getInt("relay_per_s"), offset(0.05));
        assertThat(baseline.getJsonArray("ratios")).hasSize(1);
        assertThat(baseline.getJsonArray("exactly_once_ratios")).hasSize(1);
    }

    @Test
    @EnabledIfSystemProperty(named = BY_HAND, matches = "true")
    void theReceiverBenchmarkRunsAllSidesAndWritesItsFigures() throws Exception {
        JsonObject figures = new ReceiveBenchmark(files(), ReceiveBenchmark.Plan.brief(1_000), aWhile())
                .run()
                .figures();

        assertThat(figures.getJsonArray("runs")).hasSize(15);
        assertThat(figures.getInt("jpa_single_per_s")).isPositive();
        assertRatio(figures, "ratio", "jpa_per_s", "by_hand_per_s");
        assertRatio(figures, "jdbc_ratio", "jdbc_per_s", "by_hand_per_s");
    }

    @Test
    @EnabledIfSystemProperty(named = BY_HAND, matches = "true")
    void theDuplicatesBenchmarkTimesEffectsAndSkips() throws IOException {
        JsonObject figures = figuresOf("duplicates", 1_000);

        assertThat(figures.getJsonArray("runs")).hasSize(18);
        assertRatio(figures, "ratio", "duplicates_per_s", "effects_per_s");
    }

    @Test
    @EnabledIfSystemProperty(named = BY_HAND, matches = "true")
    void theSlowKeyBenchmarkParksAndAppliesInOrder() throws Exception {
        JsonObject figures = new SlowKeyBenchmark(files(), Duration.ofSeconds(10), aWhile())
                .run()
                .figures();

        assertThat(figures.getInt("parked_events")).isPositive();
        assertThat(figures.getJsonNumber("p99_ms_failing").doubleValue()).isPositive();
    }

    @Test
    @EnabledIfSystemProperty(named = BY_HAND, matches = "true")
    void theLatencyBenchmarkMeasuresEveryRateBesideDirectProduce() throws IOException {
        JsonObject figures = figuresOf("latency", 500);

        assertThat(figures.getJsonArray("rates")).hasSize(3);
        JsonObject main = figures.getJsonArray("rates").getJsonObject(1);
        assertThat(main.getInt("per_s")).isEqualTo(2_000);
        assertThat(figures.getJsonNumber("p99_ms").doubleValue())
                .isEqualTo(main.getJsonObject("commit_to_ack")
                        .getJsonNumber("p99_ms")
                        .doubleValue())
                .isGreaterThanOrEqualTo(figures.getJsonNumber("p50_ms").doubleValue());
        assertThat(main.getJsonObject("direct").getJsonNumber("p50_ms").doubleValue())
                .isPositive();
        for (String part : PartTimes.NAMES) {
            assertThat(main.getJsonObject("page_parts").getJsonObject(part).getInt("pages"))
                    .as(part)
                    .isPositive();
        }
        assertThat(main.getJsonObject("hand_over_to_ack")
                        .getJsonNumber("p50_ms")
                        .doubleValue())
                .isPositive();
    }

    @Test
    @EnabledIfSystemProperty(named = BY_HAND, matches = "true")
    void theHeldXminBenchmarkTimesPollsAndSavesOfEachMinute() throws Exception {
        HeldXminBenchmark.Plan shortMinutes = new HeldXminBenchmark.Plan(2, Duration.ofSeconds(4), 500);

        JsonObject figures =
                new HeldXminBenchmark(files(), shortMinutes, aWhile()).run().figures();

        assertThat(figures.getJsonArray("minutes")).hasSize(2);
        assertThat(figures.getJsonArray("skip_locked_minutes")).hasSize(2);
        for (String field : List.of("poll_ms_first", "poll_ms_last", "save_ms_first", "save_ms_last", "lag_max_s")) {
            assertThat(figures.getJsonNumber(field).doubleValue()).as(field).isPositive();
        }
    }

    @Test
    @EnabledIfSystemProperty(named = BY_HAND, matches = "true")
    void theHistoryBenchmarkTimesAPollBeforeAndAfter() throws IOException {
        JsonObject figures = figuresOf("history", 20_000);

        assertThat(figures.getJsonNumber("ratio").doubleValue())
                .isCloseTo(
                        figures.getJsonNumber("poll_ms_after").doubleValue()
                                / figures.getJsonNumber("poll_ms_before").doubleValue(),
                        offset(0.01));
    }

    @Test
    @EnabledIfSystemProperty(named = BY_HAND, matches = "true")
    void theBacklogBenchmarkTimesTheFirstRecordAndTheLag() throws Exception {
        JsonObject figures =
                new BacklogBenchmark(files(), 20_000, 1, aWhile()).run().figures();

        assertThat(figures.getJsonArray("backlogs")).hasSize(6).allSatisfy(each -> {
            assertThat(each.asJsonObject().getJsonNumber("first_record_ms").doubleValue())
                    .isPositive();
            assertThat(each.asJsonObject().getJsonNumber("lag_ms").doubleValue())
                    .isPositive();
        });
        for (String field : List.of("first_record_ratio", "lag_ratio", "first_record_ratio_held", "lag_ratio_held")) {
            assertThat(figures.getJsonNumber(field).doubleValue()).as(field).isPositive();
        }
    }

    @Test
    void theFailoverBenchmarkSeesTheStandbyTakeOver() throws IOException {
        JsonObject figures = figuresOf("failover", "--kills", 1);

        assertThat(figures.getJsonArray("kills")).hasSize(1);
        assertThat(figures.getJsonNumber("failover_s").doubleValue()).isPositive();
    }

    @Test
    @EnabledIfSystemProperty(named = BY_HAND, matches = "true")
    void theRecoveryBenchmarkCountsBeforeAndAfterEachFault() throws IOException {
        JsonObject figures = figuresOf("recovery", "--seconds", 5);

        assertThat(figures.getJsonArray("faults"))
                .hasSize(6)
                .allSatisfy(fault ->
                        assertThat(fault.asJsonObject().getInt("before")).isPositive());
        assertThat(figures.getInt("inflow_per_s")).isPositive();
    }

    @Test
    @EnabledIfSystemProperty(named = BY_HAND, matches = "true")
    void theWriteBenchmarkTimesTheTransactionOfEachSide() throws IOException {
        JsonObject figures = figuresOf("write", 100);

        assertThat(figures.getJsonNumber("ratio").doubleValue())
                .isCloseTo(
                        figures.getJsonNumber("outbox_ms").doubleValue()
                                / figures.getJsonNumber("hand_written_ms").doubleValue(),
                        offset(0.01));
        assertThat(figures.getJsonNumber("plain_ms").doubleValue()).isPositive();
    }

    @Test
    @EnabledIfSystemProperty(named = BY_HAND, matches = "true")
    void theLocksBenchmarkTimesEachStepWithEachProvider() throws IOException {
        JsonObject figures = figuresOf("locks", 20);

        for (String label :
                List.of("a transaction", "postgresql: tryLock, fence, close", "redis: tryLock, fence, close")) {
            assertThat(figures.getJsonObject(label).getJsonNumber("p50_ms").doubleValue())
                    .as(label)
                    .isPositive();
        }
    }

    @Test
    @EnabledIfSystemProperty(named = BY_HAND, matches = "true")
    void theGuardBenchmarkComparesBothProvidersWithNone() throws IOException {
        JsonObject figures = figuresOf("guard", 8);

        assertThat(figures.getJsonArray("runs")).hasSize(27);
        assertThat(figures.getJsonObject("ratios")).hasSize(18);
    }

    private static Installation files() {
        return Installation.in(Path.of(System.getProperty(BenchMain.ROOT_PROPERTY)), BenchMain.FILES);
    }

    private static Deadline aWhile() {
        return new Deadline(Duration.ofMinutes(10));
    }

    private static void assertRatio(JsonObject figures, String ratio, String numerator, String denominator) {
        double expected = figures.getInt(numerator) / (double) figures.getInt(denominator);
        assertThat(figures.getJsonNumber(ratio).doubleValue()).isCloseTo(expected, offset(0.05));
    }

    private static JsonObject figuresOf(String name, int rows) throws IOException {
        return figuresOf(name, "--rows", rows);
    }

    private static JsonObject figuresOf(String name, String option, int size) throws IOException {
        Path file = Path.of(System.getProperty(BenchMain.ROOT_PROPERTY))
                .resolve("target/bench")
                .resolve(name + "-" + size + ".json");
        Files.deleteIfExists(file);
        Files.deleteIfExists(Report.picture(file));

        assertThat(BenchMain.run(name, option, Integer.toString(size))).isZero();

        assertThat(ImageIO.read(Report.picture(file).toFile())).as("the plot").isNotNull();

        try (JsonReader reader = Json.createReader(Files.newBufferedReader(file))) {
            return reader.readObject();
        }
    }
}
