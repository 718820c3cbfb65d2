package dev.twinbox.sample.bench;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;

/** The benchmarks with few events: they must work on the day they are wanted. What they measure here says nothing. */
class BenchIT {

    @Test
    void theRelayBenchmarkRunsAllSidesThreeTimesAndWritesItsFigures() throws IOException {
        JsonObject figures = figuresOf("relay", 5_000);

        assertThat(figures.getJsonArray("runs")).hasSize(9);
        assertThat(figures.getInt("producer_per_s")).isPositive();
        assertThat(figures.getInt("relay_per_s")).isPositive();
        assertRatio(figures, "ratio", "relay_per_s", "producer_per_s");
        assertRatio(figures, "skip_locked_ratio", "relay_per_s", "skip_locked_per_s");
        assertThat(figures.getJsonObject("producer_settings").getString("compression.type"))
                .isEqualTo("lz4");
    }

    @Test
    void theReceiverBenchmarkRunsAllSidesThreeTimesAndWritesItsFigures() throws IOException {
        JsonObject figures = figuresOf("receive", 1_000);

        assertThat(figures.getJsonArray("runs")).hasSize(12);
        assertThat(figures.getInt("receiver_single_per_s")).isPositive();
        assertRatio(figures, "ratio", "receiver_per_s", "jdbc_per_s");
    }

    private static void assertRatio(JsonObject figures, String ratio, String numerator, String denominator) {
        double expected = figures.getInt(numerator) / (double) figures.getInt(denominator);
        assertThat(figures.getJsonNumber(ratio).doubleValue())
                .isCloseTo(expected, org.assertj.core.api.Assertions.offset(0.05));
    }

    private static JsonObject figuresOf(String name, int rows) throws IOException {
        Path file = Path.of(System.getProperty(BenchMain.ROOT_PROPERTY))
                .resolve("target/bench")
                .resolve(name + "-" + rows + ".json");
        Files.deleteIfExists(file);
        Files.deleteIfExists(Report.picture(file));

        assertThat(BenchMain.run(name, "--rows", Integer.toString(rows))).isZero();

        assertThat(ImageIO.read(Report.picture(file).toFile())).as("the plot").isNotNull();

        try (JsonReader reader = Json.createReader(Files.newBufferedReader(file))) {
            return reader.readObject();
        }
    }
}
