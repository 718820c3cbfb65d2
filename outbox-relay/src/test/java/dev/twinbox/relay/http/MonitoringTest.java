package dev.twinbox.relay.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.MetricQuery;
import dev.twinbox.fixtures.MetricRules;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.engine.Progress;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Alert rules and dashboards ask for what exists, and Prometheus takes the names. */
class MonitoringTest {
    private static final Path HOW_TO = Path.of("..", "docs", "how-to");

    private final Progress progress = new Progress(System::nanoTime);
    private final Metrics metrics = new Metrics("relay", DeliveryMode.AT_LEAST_ONCE, progress);

    @AfterEach
    void close() {
        metrics.close();
    }

    @Test
    void promtoolWouldAcceptTheNames() {
        assertThat(MetricRules.problems(metrics.scrape())).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"alerts.yml", "dashboards/relay.json"})
    void eachQueryReadsMetricsThatExist(String file) throws IOException {
        List<MetricQuery> queries = MetricQuery.in(HOW_TO.resolve(file)).stream()
                .filter(query -> !query.text().contains("twinbox_inbox_"))
                .toList();

        assertThat(queries).hasSizeGreaterThan(10);
        assertThat(queries)
                .allSatisfy(
                        query -> assertThat(query.problems(metrics.scrape())).isEmpty());
    }

    @Test
    void theDashboardShowsEachFigureOfTheRelayButThoseOfBenchmarks() throws IOException {
        String shown = Files.readString(HOW_TO.resolve("dashboards/relay.json"));

        assertThat(metrics.scrape()
                        .lines()
                        .filter(line -> line.startsWith("# TYPE twinbox_relay_"))
                        .map(line -> line.split(" ")[2])
                        .filter(name -> !name.endsWith("_max")))
                .hasSizeGreaterThan(20)
                .filteredOn(name -> !shown.contains(name))
                .containsExactlyInAnyOrder(
                        "twinbox_relay_exactly_once",
                        "twinbox_relay_first_read_seconds",
                        "twinbox_relay_last_ack_seconds",
                        "twinbox_relay_polls_total",
                        "twinbox_relay_position_saves_total",
                        "twinbox_relay_slots_emptied_total");
    }

    @ParameterizedTest
    @ValueSource(strings = {"relay", "receiver"})
    void aDashboardCanBeImported(String name) throws IOException {
        JsonObject board;
        try (Reader file = Files.newBufferedReader(HOW_TO.resolve("dashboards").resolve(name + ".json"));
                JsonReader reader = Json.createReader(file)) {
            board = reader.readObject();
        }

        assertThat(board.getString("uid")).isEqualTo("twinbox-" + name);
        Set<Integer> ids = new HashSet<>();
        Set<List<Integer>> places = new HashSet<>();
        for (JsonObject panel : board.getJsonArray("panels").getValuesAs(JsonObject.class)) {
            JsonObject place = panel.getJsonObject("gridPos");
            assertThat(ids.add(panel.getInt("id")))
                    .as("id of %s", panel.getString("title"))
                    .isTrue();
            for (int x = 0; x < place.getInt("w"); x++) {
                for (int y = 0; y < place.getInt("h"); y++) {
                    assertThat(places.add(List.of(place.getInt("x") + x, place.getInt("y") + y)))
                            .as("room for %s", panel.getString("title"))
                            .isTrue();
                }
            }
            assertThat(place.getInt("x") + place.getInt("w")).isLessThanOrEqualTo(24);
            assertThat(panel.getJsonArray("targets")).isNotEmpty();
            assertThat(panel.getJsonObject("fieldConfig")
                            .getJsonObject("defaults")
                            .getString("unit"))
                    .isNotEmpty();
        }
    }

    @Test
    void theTimeFromACommitToItsAcknowledgementIsAHistogram() {
        long now = System.nanoTime();
        progress.recordDelivery(now - Duration.ofMillis(30).toNanos(), now);
        progress.recordDelivery(now - Duration.ofMinutes(2).toNanos(), now);
        progress.recordDelivery(0, now); // nobody knows when it was committed

        String name = "twinbox_relay_commit_to_acknowledgement_seconds";
        assertThat(metrics.scrape())
                .contains(
                        name + "_count{relay=\"relay\"} 2\n",
                        name + "_bucket{relay=\"relay\",le=\"0.025\"} 0\n",
                        name + "_bucket{relay=\"relay\",le=\"0.05\"} 1\n",
                        name + "_bucket{relay=\"relay\",le=\"60.0\"} 1\n",
                        name + "_bucket{relay=\"relay\",le=\"300.0\"} 2\n");
    }

    @Test
    void whatCouldNotBeReadIsNotZero() {
        progress.recordLeaseHeld(1);

        assertThat(metrics.scrape())
                .contains(
                        "twinbox_relay_lag_events{relay=\"relay\"} NaN\n",
                        "twinbox_relay_lag_seconds{relay=\"relay\"} NaN\n",
                        "twinbox_relay_outbox_bytes{relay=\"relay\"} NaN\n",
                        "twinbox_relay_paused_topics{relay=\"relay\"} NaN\n",
                        "twinbox_relay_parked{relay=\"relay\",state=\"refused\"} NaN\n");
    }
}
