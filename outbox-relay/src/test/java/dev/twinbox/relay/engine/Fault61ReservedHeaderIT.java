package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.jdbc.ParkedState;
import java.sql.Connection;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An event is written by SQL with a header {@code ce_id}. Its record had two ids, and consumers disagree which counts. */
@Tag("proof")
@Timeout(120)
class Fault61ReservedHeaderIT {

    @ParameterizedTest
    @ValueSource(strings = {"ce_id", "CE_Type", "content-type"})
    void anEventWithAReservedHeaderIsParkedWithTheRemedy(String header) throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            rig.start();
            rig.execute("insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, headers)"
                    + " values (gen_random_uuid(), '" + rig.topic + "', 'k', 't', '/s', now(), 'text/plain',"
                    + " array['" + header + "', 'another'])");
            rig.execute("insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, headers)"
                    + " values (gen_random_uuid(), '" + rig.topic + "', 'l', 't', '/s', now(), 'text/plain',"
                    + " array['ce_causationid', 'allowed', 'ce', 'allowed'])");
            rig.awaitRecords(1);
            rig.awaitParked(ParkedState.REFUSED, 1);
            assertThat(OutboxDatabaseFixture.query(connection, "select error from outbox_parked"))
                    .contains("\"" + header + "\"", "without this header");
            assertThat(rig.records())
                    .singleElement()
                    .satisfies(record -> assertThat(record.key()).asString().isEqualTo("l"));
        }
    }
}
