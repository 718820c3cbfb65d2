package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.EventSlots;
import dev.twinbox.relay.jdbc.LargestEvent;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.OutboxTable;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionSlots;
import dev.twinbox.relay.jdbc.PositionTable;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Slots of 300 ms are emptied as soon as possible, under writers whose transactions last longer than a slot. Two relays
 * share the tables, and one of them is slow. Both see every committed event once and in order, and nothing stays
 * forever. Each relay sometimes reloads its position, as after a lost connection, while the position's slots are
 * emptied, too.
 */
class RotationConcurrencyIT {
    private static final String SLOTS_OF_300_MS = "alter table outbox_event alter column slot set default"
            + " (((extract(epoch from now()) * 1000)::bigint / 300) % 3)::smallint";
    private static final RelayConfig.Page PAGE = new RelayConfig.Page(50, 1_000_000, 4);
    private static final int PAGES_UNTIL_RELOAD = 40;
    private static final long POSITIONS_LIMIT = 8 * 1024;

    private final ObservedOutbox observed = new ObservedOutbox(System::nanoTime);
    private OutboxDatabaseFixture database;
    private ContendingWriters writers;
    private volatile boolean done;

    @BeforeEach
    void createTables() throws SQLException {
        database = OutboxDatabaseFixture.create();
        writers = new ContendingWriters(database);
        try (Connection connection = database.connect()) {
            OutboxDatabaseFixture.execute(connection, SLOTS_OF_300_MS);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1})
    void whatIsEmptiedHasBeenSeenByAllRelaysAndWhatIsLateIsSeenNevertheless(long seed) throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            ReadingRelay fast = new ReadingRelay("fast", 0);
            ReadingRelay slow = new ReadingRelay("slow", 5);
            List<Future<List<String>>> readings = List.of(threads.submit(fast::readAll), threads.submit(slow::readAll));
            Future<?> rotating = threads.submit(this::rotate);
            writers.start(threads, 100 * seed);
            writers.awaitEnd();
            for (Future<List<String>> reading : readings) {
                writers.assertExact(reading.get(120, TimeUnit.SECONDS));
            }
            awaitAllEmptied();
            done = true;
            rotating.get(90, TimeUnit.SECONDS);
            assertThat(observed.slotsEmptied()).as("slots emptied under load").isGreaterThan(2);
            assertThat(fast.positions.slotsUsed)
                    .as("both slots of positions had their turn")
                    .isGreaterThan(3);
        } finally {
            done = true;
            threads.shutdownNow();
        }
    }

    private void awaitAllEmptied() throws SQLException {
        try (Connection connection = database.connect()) {
            await().until(() -> OutboxDatabaseFixture.query(connection, "select count(*) from outbox_event")
                    .equals("0"));
        }
    }

    private Void rotate() throws SQLException {
        try (Connection connection = database.relayDatabase().connect()) {
            SlotRotation rotation = new SlotRotation(
                    new EventSlots(connection, OutboxDatabaseFixture.SCHEMA, "fast"),
                    OutboxDatabaseFixture.SCHEMA,
                    observed);
            while (!done) {
                rotation.runOnce();
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(30));
            }
        }
        return null;
    }

    /** Stores the positions of one relay. */
    private static final class SavedPositions {
        private final PositionTable table;
        private final PositionSlots slots;
        private final UUID owner = UUID.randomUUID();
        private final long epoch;
        private PositionTable.Saved saved;
        private int slotsUsed;

        SavedPositions(Connection connection, Connection housekeeping, String relay) throws SQLException {
            epoch = new LeaseTable(connection, OutboxDatabaseFixture.SCHEMA, relay)
                    .take(owner, Duration.ofMinutes(10), 1);
            table = new PositionTable(connection, OutboxDatabaseFixture.SCHEMA, relay);
            slots = new PositionSlots(housekeeping, OutboxDatabaseFixture.SCHEMA, POSITIONS_LIMIT);
            saved = table.load();
        }

        void save(Position position) throws SQLException {
            int slot = slots.next(table.slot());
            slotsUsed += slot == table.slot() ? 0 : 1;
            table.writeTo(slot);
            saved = new PositionTable.Saved(saved.number() + 1, position);
            assertThat(table.save(saved, owner, epoch)).isTrue();
        }

        Position reload() throws SQLException {
            assertThat(table.load()).as("the newest position").isEqualTo(saved);
            return saved.position();
        }
    }

    private final class ReadingRelay {
        private final int pauseMillis;
        private final Connection connection = database.relayDatabase().connect();
        private final SavedPositions positions;

        ReadingRelay(String name, int pauseMillis) throws SQLException {
            this.pauseMillis = pauseMillis;
            this.positions =
                    new SavedPositions(connection, database.relayDatabase().connect(), name);
        }

        List<String> readAll() throws SQLException {
            List<String> seen = new ArrayList<>();
            OutboxTable table =
                    new OutboxTable(connection, OutboxDatabaseFixture.SCHEMA.events(), PAGE, LargestEvent.UNLIMITED);
            Window window = new Window(table, Position.START);
            int idle = 0;
            for (int page = 1; idle < 50 || writers.areWriting() || seen.size() < writers.committed(); page++) {
                Page read = window.read();
                read.records().forEach(record -> seen.add(payload(record)));
                positions.save(read.after());
                idle = read.isEmpty() ? idle + 1 : 0;
                if (idle > 1_000 && !writers.areWriting()) {
                    break; // An event is lost; the assertion reports which.
                }
                if (page % PAGES_UNTIL_RELOAD == 0) {
                    window = new Window(table, positions.reload());
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(read.isEmpty() ? 2 : pauseMillis));
            }
            return seen;
        }

        private static String payload(OutboxRecord record) {
            return new String(record.record().value(), StandardCharsets.UTF_8).strip();
        }
    }
}
