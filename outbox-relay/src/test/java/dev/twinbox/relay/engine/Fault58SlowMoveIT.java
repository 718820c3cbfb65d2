package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.jdbc.OutboxDatabase;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Many large scheduled events are due at the same time. To move a thousand of them in one statement takes longer than a
 * statement may take. The same thousand was tried again for ever. Here a trigger makes each event slow.
 */
@Tag("proof")
@Timeout(120)
class Fault58SlowMoveIT {
    private static final int EVENTS = 600;
    private static final Duration STATEMENT_TIMEOUT = Duration.ofSeconds(2);

    @Test
    void allAreMovedThoughAThousandAtOnceTakeTooLong() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            rig.relayDatabase = new OutboxDatabase(rig.database.dataSource(), STATEMENT_TIMEOUT);
            rig.execute("create function slow() returns trigger language plpgsql as"
                    + " 'begin perform pg_sleep(0.005); return new; end'");
            rig.execute("create trigger slow before insert on outbox_event for each row execute function slow()");
            rig.execute("insert into outbox_scheduled"
                    + " (deliver_at, id, topic, key, type, source, occurred_at, content_type, payload)"
                    + " select now(), gen_random_uuid(), '" + rig.topic + "', 'k' || n % 3, 't', '/s', now(),"
                    + " 'text/plain', 'scheduled'::bytea from generate_series(1, " + EVENTS + ") n");
            EngineRig.Running relay = rig.start();
            await("all are moved")
                    .atMost(Duration.ofSeconds(40))
                    .until(() -> rig.number("select count(*) from outbox_scheduled") == 0);
            rig.assertExact();
            assertThat(relay.progress().observed().scheduledMoved()).isEqualTo(EVENTS);
        }
    }
}
