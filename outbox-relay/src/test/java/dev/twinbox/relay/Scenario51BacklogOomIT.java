package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.Ledger;
import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.relay.engine.EngineRig;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * BACKLOG-OOM: with any backlog, the relay reads pages bounded in bytes and begins to send at once. For the full size,
 * run it with {@code -Dtwinbox.it.backlog.rows=10000000 -Dtwinbox.it.backlog.large=300}.
 */
@Tag("proof")
class Scenario51BacklogOomIT {
    private static final int ROWS = Integer.getInteger("twinbox.it.backlog.rows", 150_000);
    private static final int LARGE = Integer.getInteger("twinbox.it.backlog.large", 40);
    private static final int LARGE_BYTES = 8_000_000;
    private static final Pattern USED = Pattern.compile("jvm_memory_used_bytes\\{area=\"heap\".*} (\\S+)");

    @Test
    void aBacklogOfManySmallEventsIsSentFrom64MBOfHeap() throws Exception {
        try (RelayRig rig = RelayRig.create();
                Connection connection = rig.connect()) {
            write(connection, rig.topic(), ROWS, "'small'");
            deliver(rig, rig.relay("64m", Map.of()), ROWS);
        }
    }

    @Test
    void aBacklogOf8MBEventsIsSentFrom256MBOfHeap() throws Exception {
        try (RelayRig rig = RelayRig.create();
                Connection connection = rig.connect()) {
            EngineRig.setTopic(rig.topic(), "max.message.bytes", "10000000");
            write(connection, rig.topic(), LARGE, "repeat(md5(i::text), " + LARGE_BYTES / 32 + ")");
            deliver(rig, rig.relay("256m", Map.of("twinbox.relay.kafka.max.request.size", "10000000")), LARGE);
        }
    }

    /** Writes in one transaction, hence one window. */
    private static void write(Connection connection, String topic, int rows, String payload) throws SQLException {
        OutboxDatabaseFixture.execute(
                connection,
                "insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, payload)"
                        + " select gen_random_uuid(), '" + topic
                        + "', 'key' || i % 1000, 'test.happened', '/test', now(),"
                        + " 'text/plain', convert_to(" + payload + ", 'UTF8') from generate_series(1, " + rows + ") i");
    }

    private static void deliver(RelayRig rig, RelayProcess relay, int rows) throws Exception {
        relay.start();
        await("it is connected").until(() -> relay.log().contains("Relaying "));
        await("the first event").until(() -> rig.recordCount() > 0);
        await("all")
                .atMost(Duration.ofMinutes(1).plusMillis(rows))
                .pollInterval(Duration.ofMillis(200))
                .until(() -> rig.recordCount() >= rows);
        assertThat(heapUsed(relay)).isPositive();
        try (Connection connection = rig.connect()) {
            Ledger.create()
                    .committed(connection, "select topic, key, id from outbox_event order by seq")
                    .published(RelayRig.KAFKA.bootstrapServers())
                    .assertExact();
        }
        assertThat(relay.terminate()).isZero();
        assertThat(relay.log()).doesNotContain("OutOfMemoryError", "Going back", "going back");
    }

    /** The heap used by all generations. */
    private static double heapUsed(RelayProcess relay) throws Exception {
        Matcher used = USED.matcher(RelayMetrics.of(relay).text());
        return used.results()
                .mapToDouble(each -> Double.parseDouble(each.group(1)))
                .sum();
    }
}
