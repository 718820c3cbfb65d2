package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.ParkedSelection;
import dev.twinbox.relay.jdbc.ParkedState;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A row of 60 MB, written by plain SQL, used up the memory of a relay with {@code -Xmx96m} in each session. Nothing was
 * sent any more. A row above what can ever be sent is parked without being read, also when an operator retries it.
 */
@Tag("proof")
class Fault05HugeRowIT {

    @Test
    void aRowThatCanNeverBeSentIsParkedWithoutBeingReadAndTheOthersAreSent() throws Exception {
        try (RelayRig rig = RelayRig.create();
                Connection connection = rig.connect()) {
            rig.insert(connection, "before");
            for (String key : List.of("'huge'", "null")) {
                OutboxDatabaseFixture.execute(
                        connection,
                        "insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, payload)"
                                + " select gen_random_uuid(), '" + rig.topic() + "', " + key
                                + ", 'test.happened', '/test', now(), 'text/plain',"
                                + " decode(string_agg(md5(i::text), ''), 'hex') from generate_series(1, 3750000) i");
            }
            rig.insert(connection, "huge");
            for (int i = 0; i < 10; i++) {
                rig.insert(connection, "key" + i);
            }
            RelayProcess relay = rig.relay("96m", Map.of()).start();

            await("the others").atMost(Duration.ofSeconds(60)).until(() -> rig.recordCount() >= 11);
            await("parked")
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> rig.count("select count(*) from outbox_parked") == 3);
            assertThat(rig.count("select count(*) from outbox_parked where octet_length(payload) = 60000000"))
                    .isEqualTo(2);
            ParkedRows operator = new ParkedRows(connection, OutboxDatabaseFixture.SCHEMA, "relay");
            List<ParkedRows.Line> lines = operator.list(ParkedSelection.ALL, 10);
            assertThat(lines).extracting(ParkedRows.Line::key).containsExactly("huge", null, "huge");
            assertThat(lines.get(0).error())
                    .contains(lines.get(0).id(), "60000000 payload bytes", "without being read", "max.message.bytes");
            assertThat(lines.get(2).state()).isEqualTo(ParkedState.BEHIND);

            operator.retry(ParkedSelection.ALL);
            await("refused again")
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> rig.count("select count(*) from outbox_parked where attempts = 2") == 2);
            operator.discard(
                    ParkedSelections.number(lines.get(0).number(), lines.get(1).number()));
            await("the event behind").until(() -> rig.recordCount() == 12);
            assertThat(relay.terminate()).isZero();
            assertThat(relay.log()).doesNotContain("OutOfMemoryError");
        }
    }
}
