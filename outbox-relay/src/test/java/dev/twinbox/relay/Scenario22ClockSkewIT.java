package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** CLOCK-SKEW: clocks that are fast or slow decide nothing. Leases depend on the database's clock alone. */
@Tag("proof")
class Scenario22ClockSkewIT {

    @Test
    void anApplicationClock10MinutesOffNeitherDelaysNorReordersEvents() throws SQLException {
        try (RelayRig rig = RelayRig.create();
                Connection connection = rig.connect();
                Statement statement = connection.createStatement()) {
            RelayProcess owner = rig.startRelay(Map.of("twinbox.relay.lease", "PT5S"));
            RelayProcess standby =
                    rig.relay(Map.of("twinbox.relay.lease", "PT5S")).start();
            Scenario20CrashClaimIT.awaitStandby(standby);
            for (int i = 0; i < 20; i++) {
                String skew = i % 2 == 0 ? "+ interval '10 minutes'" : "- interval '10 minutes'";
                statement.execute("insert into outbox_event (id, topic, key, type, source, occurred_at, content_type)"
                        + " select gen_random_uuid(), '" + rig.topic()
                        + "', 'k' || n % 5, 't', '/s', clock_timestamp() "
                        + skew + ", 'text/plain' from generate_series(1, 100) n");
            }
            await().until(() -> rig.recordCount() >= 2_000);
            await("the position is after all of them").until(() -> Scenario14MarkFailIT.unsent(rig) == 0);
            // The lease has lasted longer than its length, and no other process took it.
            long saves = rig.saves();
            await().until(() -> rig.count("select count(*) from outbox_lease, (select min(saved_at) as first from"
                            + " outbox_position) p where clock_timestamp() > first + interval '6 seconds'")
                    == 1);
            assertThat(rig.count("select epoch from outbox_lease")).isOne();
            assertThat(rig.saves()).isEqualTo(saves);
            assertThat(standby.log()).doesNotContain("Took the lease");
            rig.assertExact();
            assertThat(owner.terminate()).isZero();
        }
    }

    /**
     * A process that does not read its clock cannot be misled by it. One class reads it, to compare it with the
     * database's after Kafka has refused a timestamp.
     */
    @Test
    void theRelayReadsNoProcessClockAndSqlNoClockThatStopsInATransaction() throws IOException {
        List<String> forbidden = List.of(
                "currentTimeMillis",
                "Instant.now",
                "InstantSource",
                "Clock.system",
                "DateTime.now",
                "LocalDate.now",
                "new Date(",
                " now()",
                "current_timestamp",
                "localtimestamp",
                "transaction_timestamp");
        try (Stream<Path> sources = Files.walk(Path.of("src", "main", "java"))) {
            List<Path> files = sources.filter(
                            file -> file.toString().endsWith(".java") && !file.endsWith("ClockCheck.java"))
                    .toList();
            assertThat(files).hasSizeGreaterThan(30);
            assertThat(files)
                    .allSatisfy(file -> assertThat(Files.readString(file))
                            .as(file.toString())
                            .doesNotContain(forbidden));
        }
    }
}
