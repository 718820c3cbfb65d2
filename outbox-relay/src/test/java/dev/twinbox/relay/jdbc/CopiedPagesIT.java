package dev.twinbox.relay.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.RelayConfig;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.kafka.common.header.Header;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The pages that come by COPY: the same events as by the statements, within the same bounds. */
class CopiedPagesIT {
    private static final String COPY = "-- relay: copy ";
    private static final LargestEvent LARGEST = new LargestEvent(1_000_000, "make it smaller");

    private OutboxDatabaseFixture database;
    private Connection reading;
    private Connection observer;
    private String lastStatement;

    /** All pages of one window. */
    private record Pages(List<Slice> slices, List<Boolean> copied) {
        List<String> events() {
            return slices.stream()
                    .flatMap(slice -> slice.records().stream())
                    .map(CopiedPagesIT::describe)
                    .toList();
        }
    }

    @BeforeEach
    void connect() throws SQLException {
        database = OutboxDatabaseFixture.create();
        reading = database.relayDatabase().connect();
        observer = database.connect();
        lastStatement = "select query from pg_stat_activity where pid = "
                + OutboxDatabaseFixture.query(reading, "select pg_backend_pid()");
    }

    @AfterEach
    void disconnect() throws SQLException {
        reading.close();
        observer.close();
    }

    @Test
    void theyHoldTheSameEventsAsTheStatements() throws SQLException {
        OutboxDatabaseFixture.execute(
                observer,
                "insert into outbox_event (id, topic, key, type, source, subject, occurred_at, content_type, headers,"
                        + " payload) select gen_random_uuid(), 'topic-' || i % 3,"
                        + " case when i % 5 > 0 then 'ключ ' || i % 7 end, 'type.' || i % 2, '/source/' || i % 4,"
                        + " case when i % 3 = 0 then 'subject ' || i end,"
                        + " case when i % 50 = 0 then 'infinity' else timestamptz '2026-11-30 12:34:56.789' + i *"
                        + " interval '1.000001 s' end, 'application/json',"
                        + " case when i % 4 = 0 then array['name', 'wert ü ' || i, 'other', ''] end,"
                        + " case when i % 6 > 0 then convert_to(repeat('x', i), 'UTF8') end"
                        + " from generate_series(1, 300) i");

        Pages copied = read(new RelayConfig.Page(7, 1_000_000, 4));
        assertThat(copied.copied()).startsWith(false, true, true).endsWith(true);
        Pages atOnce = read(new RelayConfig.Page(2_000, 4_000_000, 4));
        assertThat(atOnce.copied()).containsOnly(false);
        assertThat(copied.events()).hasSize(300).isEqualTo(atOnce.events());
    }

    /** A row without its required values is parked, whichever way it comes. */
    @Test
    void aRowThatBreaksTheConstraintsIsUnreadableAndTheNextPagesGoOn() throws SQLException {
        OutboxDatabaseFixture.execute(
                observer,
                "alter table outbox_event alter id drop not null, alter topic drop not null, alter type drop not null");
        insert(20, 10);
        for (String column : List.of("id", "topic", "type")) {
            OutboxDatabaseFixture.execute(
                    observer,
                    "update outbox_event set " + column + " = null where seq = (select max(seq) from outbox_event)");
            insert(20, 10);
        }
        Pages pages = read(new RelayConfig.Page(6, 1_000_000, 4));
        assertThat(pages.copied()).contains(true);
        assertThat(pages.events())
                .isEqualTo(read(new RelayConfig.Page(2_000, 1_000_000, 4)).events());
        assertThat(pages.slices().stream()
                        .flatMap(slice -> slice.records().stream())
                        .filter(record -> record.fault() != null))
                .hasSize(3);
    }

    @ParameterizedTest(name = "pages of {0} bytes")
    @CsvSource({"40000", "150000", "1000000"})
    void aPageEndsAtItsBytesAndLargeRowsComeWithoutUsingUpTheMemory(int bytes) throws SQLException {
        for (int size : new int[] {10, 300, 2_000, 100_000, 20, 5_000_000, 2_500, 10}) {
            insert(size > 10_000 ? 2 : 150, size);
        }
        Pages pages = read(new RelayConfig.Page(20_000, bytes, 4));
        assertThat(pages.copied()).contains(true);
        assertThat(pages.slices())
                .allSatisfy(slice -> assertThat(
                                slice.bytes() <= bytes || slice.records().size() == 1)
                        .as(
                                "%d bytes in %d records",
                                slice.bytes(), slice.records().size())
                        .isTrue());
        List<Long> numbers = pages.slices().stream()
                .flatMap(slice -> slice.records().stream())
                .map(OutboxRecord::seq)
                .toList();
        assertThat(numbers)
                .isEqualTo(IntStream.rangeClosed(1, 6 * 150 + 2 * 2)
                        .mapToObj(Long::valueOf)
                        .toList());
        assertThat(pages.slices().stream()
                        .flatMap(slice -> slice.records().stream())
                        .filter(record -> record.fault() != null))
                .as("larger than the producer's limit, so never read")
                .hasSize(2);
    }

    /** As after a crash that a pooler hides: what is visible in a snapshot from before means nothing. */
    @Test
    void anotherServerProcessIsNoticed() throws SQLException {
        insert(100, 10);
        try (OutboxTable table = table(new RelayConfig.Page(10, 1_000_000, 4))) {
            Slice first = table.openWindow(Snapshot.EMPTY);
            long seq = last(first);
            assertThat(last(table.nextPage(Snapshot.EMPTY, first.snapshot(), seq)))
                    .isEqualTo(seq + 10);
            assertThat(wasCopied()).isTrue();
            String mark = OutboxDatabaseFixture.query(reading, "select current_setting('twinbox.session')");
            for (String other : List.of("set twinbox.session = 'another'", "reset twinbox.session")) {
                OutboxDatabaseFixture.execute(reading, other);
                assertThatThrownBy(() -> table.nextPage(Snapshot.EMPTY, first.snapshot(), seq))
                        .isInstanceOf(SQLTransientConnectionException.class)
                        .hasMessageContaining("another server process");
                assertThat(wasCopied()).isTrue();
            }
            OutboxDatabaseFixture.execute(reading, "set twinbox.session = '" + mark + "'");
            assertThat(last(table.nextPage(Snapshot.EMPTY, first.snapshot(), seq)))
                    .as("the connection is of use")
                    .isEqualTo(seq + 10);
        }
    }

    /** A policy that hides rows would end the window too early. */
    @Test
    void hiddenRowsAreAnError() throws SQLException {
        insert(100, 10);
        String role = "\"copies of " + database.name() + "\"";
        OutboxDatabaseFixture.execute(observer, "create role " + role + " login password 'copies'");
        try {
            OutboxDatabaseFixture.execute(
                    observer,
                    "grant select, insert, update, delete on all tables in schema public to " + role
                            + "; grant usage on all sequences in schema public to " + role);
            PGSimpleDataSource source = database.dataSource();
            source.setUser(role.replace("\"", ""));
            source.setPassword("copies");
            try (Connection connection = new OutboxDatabase(source, Duration.ofSeconds(20)).connect();
                    OutboxTable table = table(connection, new RelayConfig.Page(10, 1_000_000, 4))) {
                Slice first = table.openWindow(Snapshot.EMPTY);
                OutboxDatabaseFixture.execute(observer, "alter table outbox_event enable row level security");
                assertThatThrownBy(() -> table.nextPage(Snapshot.EMPTY, first.snapshot(), last(first)))
                        .isInstanceOfSatisfying(
                                SQLException.class,
                                e -> assertThat(OutboxDatabase.isRowSecurity(e)).isTrue());
                OutboxDatabaseFixture.execute(observer, "alter table outbox_event disable row level security");
                assertThat(last(table.nextPage(Snapshot.EMPTY, first.snapshot(), last(first))))
                        .as("the connection is of use")
                        .isEqualTo(last(first) + 10);
            }
        } finally {
            OutboxDatabaseFixture.execute(observer, "drop owned by " + role + "; drop role " + role);
        }
    }

    /** What became visible after the window was opened is for the next one. */
    @Test
    void aCopiedPageEndsWithItsWindow() throws SQLException {
        insert(15, 10);
        try (OutboxTable table = table(new RelayConfig.Page(10, 1_000_000, 4))) {
            Slice first = table.openWindow(Snapshot.EMPTY);
            insert(15, 10);
            Slice second = table.nextPage(Snapshot.EMPTY, first.snapshot(), last(first));
            assertThat(wasCopied()).isTrue();
            assertThat(second.records()).hasSize(5);
            assertThat(second.cut()).isEqualTo(Slice.Cut.NOTHING_LEFT);
            Slice third = table.openWindow(first.snapshot());
            assertThat(third.records()).hasSize(10);
            assertThat(third.records().get(0).seq()).isEqualTo(last(second) + 1);
        }
    }

    /** Reads one window to its end. */
    private Pages read(RelayConfig.Page limits) throws SQLException {
        List<Slice> slices = new ArrayList<>();
        List<Boolean> copied = new ArrayList<>();
        try (OutboxTable table = table(limits)) {
            Slice page = table.openWindow(Snapshot.EMPTY);
            Snapshot to = page.snapshot();
            slices.add(page);
            copied.add(wasCopied());
            while (page.cut() == Slice.Cut.MORE_TO_COME) {
                page = table.nextPage(Snapshot.EMPTY, to, last(page));
                slices.add(page);
                copied.add(wasCopied());
            }
        }
        return new Pages(slices, copied);
    }

    private boolean wasCopied() throws SQLException {
        return OutboxDatabaseFixture.query(observer, lastStatement).startsWith(COPY);
    }

    private OutboxTable table(RelayConfig.Page limits) throws SQLException {
        return table(reading, limits);
    }

    private static OutboxTable table(Connection connection, RelayConfig.Page limits) throws SQLException {
        return new OutboxTable(connection, OutboxDatabaseFixture.SCHEMA.events(), limits, LARGEST);
    }

    private void insert(int rows, int bytes) throws SQLException {
        OutboxDatabaseFixture.execute(
                observer,
                "insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, payload)"
                        + " select gen_random_uuid(), 'orders', 'k' || i % 7, 't', '/s', now(), 'text/plain',"
                        + " convert_to(repeat('x', " + bytes + "), 'UTF8') from generate_series(1, " + rows + ") i");
    }

    private static long last(Slice slice) {
        return slice.records().get(slice.records().size() - 1).seq();
    }

    private static String describe(OutboxRecord record) {
        StringBuilder text = new StringBuilder()
                .append(record.seq())
                .append(' ')
                .append(record.topic())
                .append(' ')
                .append(text(record.record().key()))
                .append(' ')
                .append(text(record.record().value()))
                .append(' ')
                .append(record.fault());
        for (Header header : record.record().headers()) {
            text.append(' ').append(header.key()).append('=').append(text(header.value()));
        }
        return text.toString();
    }

    private static String text(byte[] bytes) {
        return bytes == null ? "null" : new String(bytes, StandardCharsets.UTF_8);
    }
}
