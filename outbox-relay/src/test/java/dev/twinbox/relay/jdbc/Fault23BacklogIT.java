package dev.twinbox.relay.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.Slice.Cut;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A million events are unsent, as after a long outage of Kafka. The relay read all of them to find where the window
 * begins, and again to count them. Both ran into the statement timeout, for ever.
 */
@Tag("proof")
class Fault23BacklogIT {
    private static final int UNSENT = 1_000_000;

    /** Reading a million rows takes more than a second. */
    private static final Duration TIMEOUT = Duration.ofMillis(400);

    private static final RelayConfig.Page PAGE = new RelayConfig.Page(500, 1_000_000, 4);

    private static OutboxDatabaseFixture database;
    private static Connection holder;
    private static Snapshot beforeAll;
    private static Connection hurried;

    @BeforeAll
    static void leaveAMillionEventsUnsent() throws SQLException {
        database = OutboxDatabaseFixture.create();
        holder = database.connect();
        holder.setAutoCommit(false);
        holder.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        OutboxDatabaseFixture.query(holder, "select now()");
        try (Connection connection = database.relayDatabase().connect();
                Connection application = database.connect();
                OutboxTable table = table(connection)) {
            insert(application, 1_000);
            beforeAll = table.openWindow(Snapshot.EMPTY).snapshot();
            insert(application, UNSENT);
        }
        hurried = new OutboxDatabase(database.dataSource(), TIMEOUT).connect();
    }

    @AfterAll
    static void close() throws SQLException {
        for (Connection connection : List.of(holder, hurried)) {
            connection.close();
        }
    }

    @Test
    void aWindowOpensInTime() throws SQLException {
        try (OutboxTable table = table(hurried)) {
            Slice slice = table.openWindow(beforeAll);
            assertThat(slice.records()).hasSize(PAGE.rows());
            assertThat(slice.records().get(0).seq()).isEqualTo(1_001);
        }
    }

    /** The window after a large one reads what is new, and not the large one again. */
    @Test
    void theWindowAfterTheLargeOneOpensInTime() throws SQLException {
        try (OutboxTable table = table(hurried)) {
            Snapshot afterAll = table.openWindow(beforeAll).snapshot();
            long first;
            try (Connection application = database.connect()) {
                first = insert(application, 3_000);
            }
            Slice slice = table.openWindow(afterAll);
            assertThat(slice.records().get(0).seq()).isEqualTo(first);
            assertThat(slice.cut()).isEqualTo(Cut.MORE_TO_COME);
        }
    }

    @Test
    void theLagIsCountedInTime() throws SQLException {
        for (Position position : List.of(Position.closed(beforeAll), Position.open(beforeAll, now(), 500_000))) {
            Backlog backlog = Backlog.behind(position, hurried, OutboxDatabaseFixture.SCHEMA.events());
            assertThat(backlog.events()).as(position.toString()).isEqualTo(Backlog.LIMIT);
            assertThat(backlog.topics()).containsExactly("orders");
        }
    }

    /** A position that an older relay has saved has no floor. */
    @Test
    void aPositionWithoutAFloorLosesNothing() throws SQLException {
        try (Connection connection = database.relayDatabase().connect();
                OutboxTable table = table(connection)) {
            Slice slice = table.openWindow(Snapshot.parse(beforeAll.text()));
            assertThat(slice.records().get(0).seq()).isEqualTo(1_001);
            assertThat(slice.snapshot().floor()).isGreaterThanOrEqualTo(1_000 + UNSENT);
            connection.setAutoCommit(false);
            assertThat(FloorSearch.firstSeq(connection, OutboxDatabaseFixture.SCHEMA.events(), beforeAll, 170_000))
                    .isEqualTo(1_001);
            assertThat(FloorSearch.firstSeq(connection, OutboxDatabaseFixture.SCHEMA.events(), now(), 170_000))
                    .isEqualTo(Long.MAX_VALUE);
            connection.rollback();
        }
    }

    @Test
    void aSavedPositionKeepsItsFloors() throws SQLException {
        try (Connection connection = database.relayDatabase().connect()) {
            UUID owner = UUID.randomUUID();
            long epoch = new LeaseTable(connection, OutboxDatabaseFixture.SCHEMA, "keeps")
                    .take(owner, Duration.ofMinutes(1), 1);
            PositionTable positions = new PositionTable(connection, OutboxDatabaseFixture.SCHEMA, "keeps");
            Position open = Position.open(beforeAll.above(7L), now().above(8L), 9);
            assertThat(positions.save(new PositionTable.Saved(1, open), owner, epoch))
                    .isTrue();
            assertThat(positions.load().position()).isEqualTo(open);
            Position next = Position.closed(now().above(10L));
            PositionTable.Prepared row = new PositionTable.Prepared(2, open, 1L, next);
            assertThat(positions.prepare(row, owner, epoch)).isTrue();
            assertThat(positions.loadPrepared()).isEqualTo(row);
        }
    }

    /** Without a right on the sequence, the greatest number of the table is a floor as well. */
    @Test
    void aRoleThatMayOnlyReadTheEventsHasAFloorToo() throws SQLException {
        try (Connection connection = database.relayDatabase().connect()) {
            OutboxDatabaseFixture.execute(connection, "drop role if exists only_events");
            OutboxDatabaseFixture.execute(connection, "create role only_events");
            OutboxDatabaseFixture.execute(connection, "grant select on outbox_event to only_events");
            OutboxDatabaseFixture.execute(connection, "set role only_events");
            try (OutboxTable table = table(connection)) {
                assertThat(table.openWindow(now().above(0L)).snapshot().floor()).isGreaterThanOrEqualTo(1_000 + UNSENT);
            }
            OutboxDatabaseFixture.execute(connection, "reset role");
            OutboxDatabaseFixture.execute(connection, "drop owned by only_events; drop role only_events");
        }
    }

    /** Numbers from a block of a session's own say nothing about when they were drawn. */
    @Test
    void aSequenceThatDrawsBlocksGivesNoFloor() throws SQLException {
        OutboxDatabaseFixture fresh = OutboxDatabaseFixture.create();
        try (Connection connection = fresh.relayDatabase().connect()) {
            OutboxDatabaseFixture.execute(connection, "alter sequence outbox_event_seq cache 10");
            try (OutboxTable table = table(connection)) {
                assertThat(table.openWindow(Snapshot.EMPTY).snapshot().floor()).isNull();
            }
        }
    }

    private static OutboxTable table(Connection connection) throws SQLException {
        return new OutboxTable(connection, OutboxDatabaseFixture.SCHEMA.events(), PAGE, LargestEvent.UNLIMITED);
    }

    private static Snapshot now() throws SQLException {
        return Snapshot.parse(OutboxDatabaseFixture.query(hurried, "select pg_current_snapshot()::text"));
    }

    /** Returns the first number. */
    private static long insert(Connection connection, int rows) throws SQLException {
        return Long.parseLong(OutboxDatabaseFixture.query(
                connection,
                "with i as (insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, payload)"
                        + " select gen_random_uuid(), 'orders', 'k' || i % 1000, 't', '/s', now(), 'text/plain', 'x'"
                        + " from generate_series(1, " + rows + ") i returning seq) select min(seq) from i"));
    }
}
