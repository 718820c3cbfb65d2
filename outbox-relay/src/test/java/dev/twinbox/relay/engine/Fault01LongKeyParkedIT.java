package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.ParkedSelections;
import dev.twinbox.relay.jdbc.Backlog;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.ParkedSelection;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.Rebase;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * An event with a key of 4,000 incompressible characters has to be parked. The key did not fit an index of the table of
 * parked events, so the transaction that moves the position failed. The relay sent the other events again and again,
 * and later events never.
 */
@Tag("proof")
class Fault01LongKeyParkedIT {
    private static final String KEY = Scenario24TooLargeIT.incompressible(4_000);

    @Test
    void anEventWithALongKeyIsParkedOnceAndTheOthersAreSentOnce() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            String missing = rig.topic + "-missing";
            insert(connection, missing, KEY, "1");
            insert(connection, missing, KEY, "2");
            for (int i = 0; i < 10; i++) {
                rig.insert(connection, "k" + i, "other " + i);
            }
            EngineRig.Running relay = rig.start();

            rig.awaitParked(ParkedState.WAITING, 1);
            rig.awaitParked(ParkedState.BEHIND, 1);
            rig.awaitRecords(10);
            insert(connection, missing, KEY, "3");
            rig.insert(connection, "k1", "last");
            rig.awaitParked(ParkedState.BEHIND, 2);
            await().until(() -> rig.payloadsOf("k1").contains("last"));
            await("nothing is behind the position").until(() -> relay.progress().backlog() == 0);
            assertThat(rig.recordCount()).as("each sent once").isEqualTo(11);
            List<ParkedRows.Line> lines = rig.parked(connection).list(ParkedSelections.key(missing, KEY), 10);
            assertThat(lines)
                    .hasSize(3)
                    .allSatisfy(line -> assertThat(line.key()).isEqualTo(KEY));
            assertThat(rig.parked(connection).show(lines.get(0).number()).behind())
                    .isEqualTo(2);

            EngineRig.KAFKA.createTopic(missing, 2);
            rig.awaitNothingParked();
            assertThat(EngineRig.KAFKA.readAll(missing))
                    .extracting(record -> new String(record.value(), StandardCharsets.UTF_8))
                    .containsExactly("1", "2", "3");
        }
    }

    /** A row that was there before the constraints, and that they refuse. */
    @Test
    void aScheduledEventThatTheEventTableDoesNotTakeIsParkedAndTheOthersAreSent() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            rig.execute("alter table outbox_scheduled drop constraint if exists type_limited");
            schedule(connection, rig.topic, "a", "test.happened", "first");
            schedule(connection, rig.topic, "b", "t".repeat(600), "bad");
            schedule(connection, rig.topic, "c", "test.happened", "last");
            rig.execute("alter table outbox_event drop constraint if exists type_limited,"
                    + " add constraint type_limited check (octet_length(type) <= 512) not valid");
            rig.start();

            rig.awaitRecords(2);
            rig.awaitParked(ParkedState.REFUSED, 1);
            assertThat(rig.payloads()).containsExactlyInAnyOrder("first", "last");
            assertThat(rig.number("select count(*) from outbox_scheduled")).isZero();
            ParkedRows.Line parked =
                    rig.parked(connection).list(ParkedSelection.ALL, 10).get(0);
            assertThat(parked.error()).contains("type_limited", "Remedy");
            assertThat(parked.key()).isEqualTo("b");
            rig.insert(connection, "b", "behind");
            rig.awaitParked(ParkedState.BEHIND, 1);
            rig.parked(connection).discard(ParkedSelections.number(parked.number()));
            rig.awaitNothingParked();
            assertThat(rig.payloadsOf("b")).containsExactly("behind");
        }
    }

    /** Counting what is unsent failed on it, which ended the housekeeping thread and {@code status}. */
    @Test
    void rowsWithoutATopicOrWithAnInfiniteTimeAreCounted() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            rig.execute("alter table outbox_event alter column topic drop not null");
            rig.execute("insert into outbox_event (id, topic, type, source, occurred_at, content_type)"
                    + " values (gen_random_uuid(), null, 't', '/s', '-infinity', 'text/plain')");
            rig.insert(connection, "k", "good");

            Backlog backlog = Backlog.behind(Position.START, connection, OutboxDatabaseFixture.SCHEMA.events());

            assertThat(backlog.events()).isEqualTo(2);
            assertThat(backlog.topics()).containsExactly(rig.topic);
            assertThat(backlog.oldest()).isBetween(Duration.ZERO, Duration.ofMinutes(5));
        }
    }

    @Test
    void aRowThatAConstraintRefusesTodayDoesNotStopARebase() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            EngineRig.Running relay = rig.start();
            rig.insert(connection, "k", "sent");
            rig.awaitRecords(1);
            relay.stop();
            rig.execute("alter table outbox_event drop constraint if exists type_limited");
            rig.insert(connection, "k", "unsent");
            rig.execute("update outbox_event set type = repeat('t', 600)");
            rig.execute("alter table outbox_event add constraint type_limited check (octet_length(type) <= 512)"
                    + " not valid");
            rig.execute("update outbox_lease set system_identifier = 1");

            Rebase.Result result = new Rebase(connection, OutboxDatabaseFixture.SCHEMA)
                    .run(OutboxDatabase.identify(connection).systemIdentifier());

            assertThat(result.relays()).containsExactly("relay");
            assertThat(rig.number("select count(*) from pg_constraint where conname = 'type_limited'"
                            + " and conrelid = 'outbox_event'::regclass and not convalidated"))
                    .isOne();
            rig.start();
            await().until(() -> rig.number("select count(*) from outbox_parked"
                            + " where state = 'refused' and payload = 'unsent'::bytea")
                    == 1);
        }
    }

    private static void insert(Connection connection, String topic, String key, String payload) throws SQLException {
        OutboxDatabaseFixture.insert(connection, topic, key, payload.getBytes(StandardCharsets.UTF_8));
    }

    private static void schedule(Connection connection, String topic, String key, String type, String payload)
            throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("insert into outbox_scheduled"
                + " (deliver_at, id, topic, key, type, source, occurred_at, content_type, payload)"
                + " values (clock_timestamp() + interval '300 ms', ?, ?, ?, ?, '/test', clock_timestamp(),"
                + " 'text/plain', ?)")) {
            insert.setObject(1, UUID.randomUUID());
            insert.setString(2, topic);
            insert.setString(3, key);
            insert.setString(4, type);
            insert.setBytes(5, payload.getBytes(StandardCharsets.UTF_8));
            insert.executeUpdate();
        }
    }
}
