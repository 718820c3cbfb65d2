package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.LargestEvent;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.OutboxTable;
import dev.twinbox.relay.jdbc.Position;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Many writers against one window, on real PostgreSQL. Each key is a business row with a version. A writer that changes
 * it holds its row lock, and its event carries the version. The window must show each committed event once, and those
 * of a key in order of their versions.
 */
class WindowConcurrencyIT {
    private static final int WINDOWS_PER_BACKLOG = 3;
    /** Of an event and what belongs to it. */
    private static final int USUAL_BYTES = 250;

    private final AtomicInteger copies = new AtomicInteger();
    private OutboxDatabaseFixture database;
    private ContendingWriters writers;

    @BeforeEach
    void createBusinessRows() throws SQLException {
        database = OutboxDatabaseFixture.create();
        writers = new ContendingWriters(database);
    }

    /**
     * With a probe of 0 rows each window begins at its floor. Pages that are no first of their window come by COPY, if
     * they have bytes for many rows. Some of these end at their limit of bytes, or before a large row.
     */
    @ParameterizedTest(
            name = "pages of {0} rows and {1} bytes, exact bounds up to {2} rows, a fence each {3} ms, COPY: {4}")
    @CsvSource({
        "5,1000000,1000,500,true",
        "50,1000000,0,0,true",
        "1000,1000000,0,0,true",
        "20000,60000,0,0,true",
        "1000,2000,0,500,false"
    })
    void everyCommittedEventIsSeenOnceAndThoseOfAKeyInOrderOfItsVersions(
            int rows, int bytes, int probe, int fenceAge, boolean byCopy) throws Exception {
        OutboxTable.Bounds bounds = new OutboxTable.Bounds(probe, Duration.ofMillis(fenceAge));
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            Future<List<String>> reading = threads.submit(() -> readAll(new RelayConfig.Page(rows, bytes, 4), bounds));
            writers.start(threads, 1_000L * rows);
            writers.awaitEnd();
            List<String> seen = reading.get(120, TimeUnit.SECONDS);
            writers.assertExact(seen);
            assertThat(copies.get() > 0)
                    .as("%d pages came by COPY", copies.get())
                    .isEqualTo(byCopy);
        } finally {
            threads.shutdownNow();
        }
    }

    /** Reads until the writers have ended and all committed events were seen, or no more arrive. */
    private List<String> readAll(RelayConfig.Page page, OutboxTable.Bounds bounds) throws SQLException {
        List<String> seen = new ArrayList<>();
        try (Connection connection = database.relayDatabase().connect();
                Connection observer = database.connect()) {
            String lastStatement = "select query from pg_stat_activity where pid = "
                    + OutboxDatabaseFixture.query(connection, "select pg_backend_pid()");
            Window window = new Window(
                    new OutboxTable(
                            connection, OutboxDatabaseFixture.SCHEMA.events(), page, LargestEvent.UNLIMITED, bounds),
                    Position.START);
            int idle = 0;
            int windows = 0;
            while (writers.areWriting() || seen.size() < writers.committed() || idle < 20) {
                boolean isNextPage = !window.isAtEnd();
                if (!isNextPage && windows++ % WINDOWS_PER_BACKLOG == 0) {
                    awaitBacklog(page, seen.size());
                }
                Page read = window.read();
                if (isNextPage
                        && OutboxDatabaseFixture.query(observer, lastStatement).startsWith("-- relay: copy ")) {
                    copies.incrementAndGet();
                }
                for (OutboxRecord record : read.records()) {
                    seen.add(new String(record.record().value(), StandardCharsets.UTF_8).strip());
                }
                assertThat(read.records().size()).isLessThanOrEqualTo(page.rows());
                assertThat(read.bytes() <= page.bytes() || read.records().size() == 1)
                        .isTrue();
                idle = read.isEmpty() ? idle + 1 : 0;
                if (idle > 500 && !writers.areWriting()) {
                    break; // An event is lost; the assertion reports which.
                }
                LockSupport.parkNanos(read.isEmpty() ? 2_000_000 : 0);
            }
        }
        return seen;
    }

    /** Without a backlog no window has a second page, on a machine where the reader is faster than the writers. */
    private void awaitBacklog(RelayConfig.Page page, int seen) {
        int pages = Math.min(2 * page.rows(), 2 * page.bytes() / USUAL_BYTES);
        while (writers.areWriting() && writers.committed() - seen < pages) {
            LockSupport.parkNanos(1_000_000);
        }
    }
}
