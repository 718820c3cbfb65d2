package dev.twinbox.relay.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.console.search.SearchedPlace;
import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.jdbc.EventPages.Order;
import dev.twinbox.relay.jdbc.FoundEvent.Place;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An event is found without an index on ids. No search reads more, or takes longer, than its limit. */
class EventSearchIT {
    private static final int HISTORY = 100_000;
    private static final int MOST = 20_000;
    private static final Instant BEGIN = Instant.parse("2026-12-02T08:00:00Z");

    private static OutboxDatabaseFixture database;

    /** Ten events a second, a key for each thousand of them, in two of three slots. */
    @BeforeAll
    static void write() throws SQLException {
        database = OutboxDatabaseFixture.create();
        try (Connection owner = database.connect()) {
            OutboxDatabaseFixture.execute(
                    owner,
                    "insert into outbox_event (slot, id, topic, key, type, source, occurred_at, content_type, payload)"
                            + " select i / 60000, gen_random_uuid(), 'orders', 'k' || i / 1000, 't', '/s',"
                            + " '" + BEGIN + "'::timestamptz + i * interval '100 ms', 'text/plain', 'x'"
                            + " from generate_series(0, " + (HISTORY - 1) + ") i");
        }
    }

    @AfterAll
    static void drop() {
        database = null;
    }

    /** The clock of this machine may be wrong; the events' rows have the database's times. */
    @Test
    void aDurationBackFromNowIsCountedByTheDatabasesClock() throws SQLException {
        EventQuery hour = new EventQuery(null, null, "k", null, Duration.ofHours(1), 9);
        EventQuery ages = new EventQuery(null, null, "k", null, Duration.ofDays(36_500), 9);
        try (Connection connection = database.connect()) {
            OutboxDatabaseFixture.execute(connection, """
                    create schema clock;
                    create function clock.clock_timestamp() returns timestamptz language sql
                    as $$ select timestamptz '2001-02-03T05:00:00Z' $$;
                    set search_path = clock, pg_catalog, public""");
            assertThat(EventSearch.asOfNow(hour, connection).since()).isEqualTo("2001-02-03T04:00:00Z");
            assertThat(EventSearch.asOfNow(ages, connection).since())
                    .as("before the first event of all")
                    .isEqualTo("1970-01-01T00:00:00Z");
        }
    }

    @Test
    void theTimeInAnIdLeadsToTheEvent() throws SQLException {
        Instant time = BEGIN.plusSeconds(2_000);
        UUID id = timeOrdered(time);
        // The transaction ended 100 s later: 1,000 others had drawn their numbers meanwhile.
        put(id, 21_000);

        EventSearch search = search(EventQuery.of(id), MOST);
        SearchedPlace place = search.inEvents();

        assertThat(search.found()).singleElement().satisfies(found -> {
            assertThat(found.id()).isEqualTo(id);
            assertThat(found.place()).isEqualTo(Place.EVENTS);
            assertThat(found.isSent()).isFalse();
        });
        assertThat(place.isCut()).isFalse();
        assertThat(place.read()).isLessThanOrEqualTo(5_000);
    }

    @Test
    void aClockThatIsFastHidesNoEvent() throws SQLException {
        UUID id = timeOrdered(BEGIN.plusSeconds(5_000));
        put(id, 49_000);

        EventSearch search = search(EventQuery.of(id), MOST);
        search.inEvents();

        assertThat(search.found()).extracting(FoundEvent::id).containsExactly(id);
    }

    @Test
    void withoutATimeTheNewestAreReadAndTheAnswerSaysWhereItWasCut() throws SQLException {
        UUID young = put(UUID.randomUUID(), 95_000);
        UUID old = put(UUID.randomUUID(), 5_000);

        EventSearch newest = search(EventQuery.of(young), MOST);
        assertThat(newest.inEvents().isCut()).isFalse();
        assertThat(newest.found()).extracting(FoundEvent::id).containsExactly(young);

        EventSearch beyond = search(EventQuery.of(old), MOST);
        assertThat(beyond.inEvents()).isEqualTo(SearchedPlace.table("\"outbox_event\"", MOST, true));
        assertThat(beyond.found()).isEmpty();

        EventSearch all = search(EventQuery.of(old), HISTORY);
        assertThat(all.inEvents().isCut()).isFalse();
        assertThat(all.found()).extracting(FoundEvent::id).containsExactly(old);
        assertThat(all.topics()).containsExactly("orders");

        EventSearch none = search(EventQuery.of(UUID.randomUUID()), HISTORY);
        assertThat(none.inEvents()).isEqualTo(SearchedPlace.table("\"outbox_event\"", HISTORY, false));
    }

    @Test
    void thoseOfAKeyComeNewestFirst() throws SQLException {
        EventSearch search = search(new EventQuery(null, "orders", "k99", null, null, 100), MOST);
        assertThat(search.inEvents().isCut()).isTrue();
        assertThat(search.found()).hasSize(100).extracting(FoundEvent::key).containsOnly("k99");
        assertThat(search.found())
                .extracting(FoundEvent::occurredAt)
                .isSortedAccordingTo((one, other) -> other.compareTo(one));

        EventSearch elsewhere = search(new EventQuery(null, "stock", "k99", null, null, 100), MOST);
        elsewhere.inEvents();
        assertThat(elsewhere.found()).isEmpty();
        assertThatThrownBy(() -> new EventQuery(null, null, "a\0b", null, null, 1))
                .hasMessageContaining("NUL");
        assertThatThrownBy(() -> new EventQuery(null, "a", null, null, null, 1)).hasMessageContaining("key");
    }

    @Test
    void whatASavedPositionHasPassedIsSent() throws SQLException {
        OutboxDatabaseFixture fresh = OutboxDatabaseFixture.create();
        try (Connection owner = fresh.connect();
                Connection late = fresh.connect();
                Connection reading = fresh.relayDatabase().connect()) {
            UUID before = OutboxDatabaseFixture.insert(owner, "k", "before");
            late.setAutoCommit(false);
            UUID across = OutboxDatabaseFixture.insert(late, "k", "across");
            String from = OutboxDatabaseFixture.query(owner, "select pg_current_snapshot()");
            UUID first = OutboxDatabaseFixture.insert(owner, "k", "first");
            UUID second = OutboxDatabaseFixture.insert(owner, "k", "second");
            String to = OutboxDatabaseFixture.query(owner, "select pg_current_snapshot()");
            late.commit();
            String seq = OutboxDatabaseFixture.query(owner, "select seq from outbox_event where id = '" + first + "'");
            OutboxDatabaseFixture.execute(
                    owner,
                    "insert into outbox_position (slot, relay, number, epoch, window_from, window_to, seq) values"
                            + " (0, 'relay', 1, 1, '" + from + "', '" + to + "', " + seq + ")");

            EventSearch search = new EventSearch(
                    reading,
                    OutboxDatabaseFixture.SCHEMA,
                    "relay",
                    new EventQuery(null, null, "k", null, null, 9),
                    100);
            search.inEvents();

            Map<UUID, Boolean> sent = new HashMap<>();
            search.found().forEach(each -> sent.put(each.id(), each.isSent()));
            assertThat(sent).isEqualTo(Map.of(before, true, across, false, first, true, second, false));
        }
    }

    @Test
    void parkedAndScheduledEventsAreFoundInTheirTables() throws SQLException {
        UUID parked = UUID.randomUUID();
        UUID scheduled = UUID.randomUUID();
        OutboxDatabaseFixture fresh = OutboxDatabaseFixture.create();
        try (Connection owner = fresh.connect();
                Connection reading = fresh.relayDatabase().connect()) {
            OutboxDatabaseFixture.execute(
                    owner,
                    "insert into outbox_parked (relay, state, error, seq, id, topic, key, occurred_at) values"
                            + " ('other', 'refused', 'no', 1, '" + parked + "', 'orders', 'k', now()),"
                            + " ('relay', 'refused', 'too large', 1, '" + parked + "', 'orders', 'k', 'infinity')");
            OutboxDatabaseFixture.execute(
                    owner,
                    "insert into outbox_scheduled (deliver_at, id, topic, key, type, source, occurred_at, content_type)"
                            + " values ('2030-01-01Z', '" + scheduled + "', 'orders', 'k', 't', '/s', now(), 'a/b')");
            EventSearch search = new EventSearch(
                    reading,
                    OutboxDatabaseFixture.SCHEMA,
                    "relay",
                    new EventQuery(null, null, "k", null, null, 9),
                    100);
            assertThat(List.of(search.inScheduled(), search.inEvents(), search.inParked()))
                    .extracting(SearchedPlace::read)
                    .containsExactly(1L, 0L, 1L);
            assertThat(search.found()).hasSize(2);
            FoundEvent first = search.found().get(0);
            assertThat(first.deliverAt()).isEqualTo(Instant.parse("2030-01-01T00:00:00Z"));
            FoundEvent second = search.found().get(1);
            assertThat(second.state()).isEqualTo(ParkedState.REFUSED);
            assertThat(second.error()).isEqualTo("too large");
            assertThat(second.occurredAt()).isNull();
        }
    }

    /** A lock holds up the statement for ever. The search ends nevertheless, and says that it was cut. */
    @Test
    void aStatementThatTakesTooLongEndsTheSearch() throws SQLException {
        try (Connection holder = database.connect();
                Connection reading = database.relayDatabase().connect()) {
            holder.setAutoCommit(false);
            OutboxDatabaseFixture.execute(holder, "lock table outbox_event in access exclusive mode");
            EventSearch search = new EventSearch(
                    reading,
                    OutboxDatabaseFixture.SCHEMA,
                    "relay",
                    EventQuery.of(UUID.randomUUID()),
                    MOST,
                    Map.of(Place.EVENTS, Duration.ofMillis(300)));
            long start = System.nanoTime();
            assertThat(search.inEvents()).isEqualTo(SearchedPlace.table("\"outbox_event\"", 0, true));
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isBetween(Duration.ofMillis(290), Duration.ofSeconds(10));
        }
    }

    /** Each statement reads a page by its numbers, whatever the statistics say. */
    @ParameterizedTest
    @EnumSource
    void aPageReadsItsOwnRows(Order order) throws SQLException {
        try (Connection owner = database.connect();
                Connection reading = database.relayDatabase().connect()) {
            for (int round = 0; round < 2; round++) {
                String seq = OutboxDatabaseFixture.query(owner, "select min(seq) + 50000 from outbox_event");
                String sql = EventPages.sql(
                        Place.EVENTS, order, EventQuery.of(UUID.randomUUID()), OutboxDatabaseFixture.SCHEMA);
                String id = "'" + UUID.randomUUID() + "'";
                assertThat(buffers(reading, sql, seq, "1000", "'1:1:'", "0", "'1:1:'", id, "1"))
                        .isLessThan(1_200);
                String timeOf = EventPages.events(EventPages.TIME_OF, OutboxDatabaseFixture.SCHEMA);
                assertThat(buffers(reading, timeOf, seq)).isLessThan(15);
                String newest = EventPages.events(TopicCounts.NEWEST, OutboxDatabaseFixture.SCHEMA);
                assertThat(buffers(reading, newest, "1000")).isLessThan(1_200);
                OutboxDatabaseFixture.execute(owner, "analyze outbox_event");
            }
        }
    }

    private static EventSearch search(EventQuery query, int most) throws SQLException {
        return new EventSearch(
                database.relayDatabase().connect(),
                OutboxDatabaseFixture.SCHEMA,
                "relay",
                query,
                most,
                Map.of(Place.EVENTS, Duration.ofMinutes(2)));
    }

    private static UUID timeOrdered(Instant time) {
        return new UUID((time.toEpochMilli() << 16) | 0x7abc, UUID.randomUUID().getLeastSignificantBits());
    }

    private static long buffers(Connection reading, String statement, String... values) throws SQLException {
        String sql = statement;
        for (String value : values) {
            sql = sql.replaceFirst("\\?", value);
        }
        StringBuilder plan = new StringBuilder();
        try (Statement explain = reading.createStatement();
                ResultSet row = explain.executeQuery("explain (analyze, buffers) " + sql)) {
            while (row.next()) {
                plan.append(row.getString(1)).append('\n');
            }
        }
        assertThat(plan.toString()).contains("Index Scan").doesNotContain("Seq Scan");
        Matcher total = Pattern.compile("Buffers: shared(?: hit=(\\d+))?(?: read=(\\d+))?")
                .matcher(plan);
        assertThat(total.find()).as(plan.toString()).isTrue();
        return Stream.of(total.group(1), total.group(2))
                .filter(Objects::nonNull)
                .mapToLong(Long::parseLong)
                .sum();
    }

    /** Gives one of the events this id. */
    private static UUID put(UUID id, int event) throws SQLException {
        try (Connection owner = database.connect()) {
            OutboxDatabaseFixture.execute(
                    owner,
                    "update outbox_event set id = '" + id + "' where seq = (select min(seq) + " + event
                            + " from outbox_event)");
        }
        return id;
    }
}
