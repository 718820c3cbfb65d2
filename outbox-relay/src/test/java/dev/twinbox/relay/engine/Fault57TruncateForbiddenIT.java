package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.sql.Connection;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A trigger forbids TRUNCATE, as auditors demand it. A slot cannot be emptied then. With each try the relay ended the
 * work of its housekeeping, and scheduled events were not sent any more.
 */
@Tag("proof")
@Timeout(120)
class Fault57TruncateForbiddenIT {

    @Test
    void scheduledEventsAreSentThoughNoSlotCanBeEmptied() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            // A sequence keeps what it counted when a transaction is rolled back.
            rig.execute("create sequence tries");
            rig.execute("create function forbid() returns trigger language plpgsql as"
                    + " 'begin perform nextval(''tries''); raise exception ''no truncate here''; end'");
            rig.execute("create trigger forbid before truncate on outbox_event_slot0 execute function forbid()");
            EngineRig.Running relay = rig.start();
            rig.insert(connection, "k", "in slot 0");
            rig.awaitRecords(1);
            rig.execute("alter table outbox_event alter column slot set default 1::smallint");
            rig.insert(connection, "k", "in slot 1");
            rig.awaitRecords(2);
            await("the relay has tried twice")
                    .until(() -> rig.number("select case when is_called then last_value else 0 end from tries") >= 2);

            rig.execute("insert into outbox_scheduled"
                    + " (deliver_at, id, topic, key, type, source, occurred_at, content_type, payload)"
                    + " values (now(), gen_random_uuid(), '" + rig.topic + "', 'k', 't', '/s', now(), 'text/plain',"
                    + " 'scheduled'::bytea)");
            await("the scheduled event")
                    .atMost(Duration.ofSeconds(20))
                    .until(() -> rig.payloads().contains("scheduled"));
            await("the reason is shown")
                    .untilAsserted(() -> assertThat(relay.progress().observed().rotationStop())
                            .contains("outbox_event_slot0", "no truncate here"));
            await("the events are counted")
                    .until(() -> relay.progress().observed().backlog() != null);
            assertThat(relay.end()).isNotDone();
        }
    }
}
