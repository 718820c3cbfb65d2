package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.LargestEvent;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.OutboxTable;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.Snapshot;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * The window against a model, on real PostgreSQL sessions. It varies the interleaving of transactions and polls, the
 * size of pages, and restarts from an earlier position.
 */
class WindowPropertyIT {
    private static final int SESSIONS = 4;
    private static final int KEYS = 3;

    private static OutboxDatabaseFixture database;
    private static Connection reading;
    private static final List<Connection> WRITING = new ArrayList<>();
    private static final Map<RelayConfig.Page, OutboxTable> TABLES = new HashMap<>();
    private static int gid;

    /** The possible next steps. */
    enum Kind {
        EARLY_XID,
        INSERT,
        INSERT_IN_SAVEPOINT,
        SAVEPOINT_ROLLBACK,
        COMMIT,
        ROLLBACK,
        PREPARE,
        POLL,
        POLL_TO_THE_END,
        RESTART
    }

    /**
     * @param session which writer
     * @param key of the event
     * @param size of the payload; of pages, in rows
     */
    record Step(Kind kind, int session, int key, int size) {}

    @BeforeContainer
    static void start() throws SQLException {
        database = OutboxDatabaseFixture.create();
        reading = database.relayDatabase().connect();
        OutboxDatabaseFixture.execute(reading, "create table noise (id bigserial primary key)");
        for (int i = 0; i < SESSIONS; i++) {
            Connection connection = database.connect();
            connection.setAutoCommit(false);
            WRITING.add(connection);
        }
    }

    @AfterContainer
    static void stop() throws SQLException {
        reading.close();
        for (Connection connection : WRITING) {
            connection.close();
        }
    }

    private static OutboxTable table(RelayConfig.Page limits) throws SQLException {
        OutboxTable table = TABLES.get(limits);
        if (table == null) {
            // Half of all windows begin at their floor, the others at an exact bound.
            OutboxTable.Bounds bounds = new OutboxTable.Bounds(limits.rows() % 2 * 1_000, Duration.ZERO);
            table = new OutboxTable(
                    reading, OutboxDatabaseFixture.SCHEMA.events(), limits, LargestEvent.UNLIMITED, bounds);
            TABLES.put(limits, table);
        }
        return table;
    }

    @Provide
    Arbitrary<List<Step>> histories() {
        Arbitrary<Kind> kinds = Arbitraries.frequency(
                net.jqwik.api.Tuple.of(3, Kind.EARLY_XID),
                net.jqwik.api.Tuple.of(8, Kind.INSERT),
                net.jqwik.api.Tuple.of(2, Kind.INSERT_IN_SAVEPOINT),
                net.jqwik.api.Tuple.of(2, Kind.SAVEPOINT_ROLLBACK),
                net.jqwik.api.Tuple.of(4, Kind.COMMIT),
                net.jqwik.api.Tuple.of(2, Kind.ROLLBACK),
                net.jqwik.api.Tuple.of(1, Kind.PREPARE),
                net.jqwik.api.Tuple.of(6, Kind.POLL),
                net.jqwik.api.Tuple.of(1, Kind.POLL_TO_THE_END),
                net.jqwik.api.Tuple.of(1, Kind.RESTART));
        Arbitrary<Step> steps = Combinators.combine(
                        kinds,
                        Arbitraries.integers().between(0, SESSIONS - 1),
                        Arbitraries.integers().between(0, KEYS - 1),
                        Arbitraries.integers().between(1, 6))
                .as(Step::new);
        return steps.list().ofMinSize(40).ofMaxSize(120);
    }

    @Property(tries = 50, shrinking = ShrinkingMode.BOUNDED)
    void everyInterleavingIsReadOnceAndInOrder(@ForAll("histories") List<Step> history) throws SQLException {
        try (Run run = new Run()) {
            for (Step step : history) {
                run.take(step);
            }
            run.finish();
        }
    }

    /** One history: the sessions, the model, and what the window has shown. */
    private static final class Run implements AutoCloseable {
        private final List<Writer> writers = new ArrayList<>();
        /**
         * A session that changes a key blocks all others from it until the end of the transaction, as its row lock
         * would.
         */
        private final Map<Integer, Object> locks = new HashMap<>();

        private final List<String> committed = new ArrayList<>();
        private final List<String> seen = new ArrayList<>();
        private final List<Position> positions = new ArrayList<>();
        private final List<Integer> seenAt = new ArrayList<>();
        private final Map<Integer, Integer> versions = new HashMap<>();
        private Position position;

        Run() throws SQLException {
            position = Position.closed(
                    Snapshot.parse(OutboxDatabaseFixture.query(reading, "select pg_current_snapshot()::text")));
            remember();
            for (int i = 0; i < SESSIONS; i++) {
                writers.add(new Writer(this, WRITING.get(i)));
            }
        }

        void take(Step step) throws SQLException {
            Writer writer = writers.get(step.session());
            switch (step.kind()) {
                case EARLY_XID -> writer.earlyXid();
                case INSERT -> writer.insert(step);
                case INSERT_IN_SAVEPOINT -> writer.insertInSavepoint(step, "release savepoint s");
                case SAVEPOINT_ROLLBACK -> writer.insertInSavepoint(step, "rollback to savepoint s");
                case COMMIT -> writer.end("commit");
                case ROLLBACK -> writer.end("rollback");
                case PREPARE -> writer.prepare();
                case POLL -> poll(1 + step.size() / 2, step.key() == 0 ? 700 : 1_000_000);
                case POLL_TO_THE_END -> pollToTheEnd(step.size());
                case RESTART -> restart(step.size());
            }
        }

        private void poll(int rows, int bytes) throws SQLException {
            RelayConfig.Page limits = new RelayConfig.Page(rows, bytes, 4);
            Page page = new Window(table(limits), position).read();
            assertThat(page.records().size()).isLessThanOrEqualTo(rows);
            assertThat(page.bytes() <= bytes || page.records().size() == 1).isTrue();
            for (OutboxRecord record : page.records()) {
                seen.add(new String(record.record().value(), StandardCharsets.UTF_8).strip());
            }
            position = page.after();
            remember();
            assertThat(seen).doesNotHaveDuplicates();
            assertThat(committed).containsAll(seen);
            assertInOrder();
        }

        /** A window that opens now and is read to its end shows everything that is committed by now. */
        private void pollToTheEnd(int rows) throws SQLException {
            while (position.to() != null) {
                poll(rows, 1_000_000);
            }
            do {
                poll(rows, 1_000_000);
            } while (position.to() != null);
            assertThat(seen).containsExactlyInAnyOrderElementsOf(committed);
        }

        /** As after a crash of the relay: an earlier position counts, and later rows are read again. */
        private void restart(int back) {
            int at = Math.max(0, positions.size() - back);
            position = positions.get(at);
            seen.subList(seenAt.get(at), seen.size()).clear();
            positions.subList(at + 1, positions.size()).clear();
            seenAt.subList(at + 1, seenAt.size()).clear();
        }

        private void remember() {
            positions.add(position);
            seenAt.add(seen.size());
        }

        private void assertInOrder() {
            Map<String, Integer> last = new HashMap<>();
            for (String event : seen) {
                String[] parts = event.split(":");
                int version = Integer.parseInt(parts[1]);
                Integer before = last.put(parts[0], version);
                assertThat(before == null || before < version)
                        .as("version %s of key %s after %s in %s", version, parts[0], before, seen)
                        .isTrue();
            }
        }

        void finish() throws SQLException {
            for (int i = 0; i < writers.size(); i++) {
                writers.get(i).end(i % 2 == 0 ? "commit" : "rollback");
            }
            pollToTheEnd(3);
        }

        @Override
        public void close() throws SQLException {
            for (Writer writer : writers) {
                writer.close();
            }
        }
    }

    /** One session and its transaction. */
    private static final class Writer implements AutoCloseable {
        private final Run run;
        private final Connection connection;
        private final List<String> events = new ArrayList<>();
        private String prepared;

        Writer(Run run, Connection connection) {
            this.run = run;
            this.connection = connection;
        }

        void earlyXid() throws SQLException {
            if (prepared == null) {
                OutboxDatabaseFixture.execute(connection, "insert into noise default values");
            }
        }

        void insert(Step step) throws SQLException {
            if (prepared == null && lock(step.key())) {
                events.add(write(step));
            }
        }

        void insertInSavepoint(Step step, String end) throws SQLException {
            if (prepared == null && lock(step.key())) {
                OutboxDatabaseFixture.execute(connection, "savepoint s");
                String event = write(step);
                OutboxDatabaseFixture.execute(connection, end);
                if (end.startsWith("release")) {
                    events.add(event);
                }
            }
        }

        private boolean lock(int key) {
            return run.locks.computeIfAbsent(key, free -> this) == this;
        }

        private String write(Step step) throws SQLException {
            String event = step.key() + ":" + run.versions.merge(step.key(), 1, Integer::sum);
            OutboxDatabaseFixture.insert(connection, "k" + step.key(), event + " ".repeat(step.size() * 90));
            return event;
        }

        void prepare() throws SQLException {
            if (prepared == null && !events.isEmpty()) {
                prepared = "p" + gid++;
                OutboxDatabaseFixture.execute(connection, "prepare transaction '" + prepared + "'");
            }
        }

        void end(String how) throws SQLException {
            if (prepared == null) {
                OutboxDatabaseFixture.execute(connection, how);
            } else {
                connection.rollback();
                connection.setAutoCommit(true);
                OutboxDatabaseFixture.execute(connection, how + " prepared '" + prepared + "'");
                connection.setAutoCommit(false);
                prepared = null;
            }
            if (how.equals("commit")) {
                run.committed.addAll(events);
            }
            events.clear();
            run.locks.values().removeIf(holder -> holder == this);
        }

        /** Leaves no trace for the next history, even if this one has failed. */
        @Override
        public void close() throws SQLException {
            end("rollback");
        }
    }
}
