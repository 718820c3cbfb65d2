package dev.twinbox.proof.soak;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.proof.landscape.BuiltFile;
import dev.twinbox.proof.landscape.Installation;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two minutes of what {@code ./sample-app/run soak} does for an hour. */
@Tag("proof")
class SoakIT {

    static final long SEED = 1;
    static final Duration LENGTH = Duration.ofMinutes(2);
    private static final int ORDERS_PER_SECOND = 100;

    private static final Path ROOT = Path.of(System.getProperty("twinbox.root"));

    @Test
    void eachCommittedOrderIsPublishedAndShippedOnceInOrderWhileEverythingFails() throws Exception {
        Soak.Outcome outcome = new Soak(
                        Installation.in(ROOT, BuiltFile.SAMPLE),
                        ROOT,
                        new Soak.Options(LENGTH, SEED, ORDERS_PER_SECOND))
                .run();

        assertThat(outcome.isExact()).as(Soak.summary(outcome)).isTrue();
        assertThat(outcome.report().orders().committed()).isGreaterThan(100);
        assertThat(outcome.report().series().applied()).isGreaterThan(50);
        List<JsonObject> log = log();
        assertThat(log.stream().filter(line -> line.getString("what").equals("fault")))
                .hasSizeGreaterThan(5);
        JsonObject last = log.get(log.size() - 1);
        assertThat(last.getString("what")).isEqualTo("result");
        assertThat(last.getBoolean("exact")).isTrue();
    }

    private static List<JsonObject> log() throws IOException {
        return Files.readAllLines(ROOT.resolve("target/soak/" + SEED + "-2min.jsonl")).stream()
                .map(line -> Json.createReader(new StringReader(line)).readObject())
                .toList();
    }
}
