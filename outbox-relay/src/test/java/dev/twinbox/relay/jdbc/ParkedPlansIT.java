package dev.twinbox.relay.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.ParkedSelections;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The statements that the relay repeats cost the same, however many events wait for an operator or are blocked by
 * another.
 */
class ParkedPlansIT {
    private static final int KEYS = 100_000;
    private static final long BUFFERS = 40;

    private static OutboxDatabaseFixture database;
    private static Connection reading;

    @BeforeAll
    static void park() throws SQLException {
        database = OutboxDatabaseFixture.create();
        reading = database.relayDatabase().connect();
        try (Connection owner = database.connect()) {
            OutboxDatabaseFixture.execute(
                    owner,
                    "insert into outbox_parked (relay, state, error, seq, id, topic, key, type)"
                            + " select 'relay', case when n <= " + KEYS + " then 'refused' else 'behind' end, 'e', n,"
                            + " gen_random_uuid(), 'orders', 'k' || n % " + KEYS + ", 't'"
                            + " from generate_series(1, 2 * " + KEYS + ") n");
            OutboxDatabaseFixture.execute(
                    owner,
                    "insert into outbox_parked (relay, state, error, seq, id, topic, key, type)"
                            + " select 'relay', 'waiting', 'e', n, gen_random_uuid(), 'missing' || n % 3, null, 't'"
                            + " from generate_series(1, " + KEYS + ") n");
            OutboxDatabaseFixture.execute(owner, "analyze outbox_parked");
        }
    }

    @AfterAll
    static void close() throws SQLException {
        reading.close();
    }

    @Test
    void lookingForEventsToSendReadsNoneThatWait() throws SQLException {
        assertThat(buffers(
                        ParkedQueue.READY,
                        "'relay'",
                        "'{1}'::int8[]",
                        "'{t}'::text[]",
                        "500",
                        "'relay'",
                        "'relay'",
                        "2000",
                        "2000"))
                .isLessThan(BUFFERS);
        assertThat(buffers(ParkedQueue.HAS_DISCARDED, "'relay'")).isLessThan(BUFFERS);
    }

    @Test
    void settingReadyEventsAsideReadsNoneThatWait() throws SQLException {
        assertThat(buffers(
                        PausedEvents.SET_ASIDE,
                        "'%s is paused'",
                        "'relay'",
                        "'relay'",
                        "'{orders,missing1}'::text[]",
                        "500"))
                .isLessThan(BUFFERS);
    }

    @Test
    void lookingForWhatIsWaitedForHopsOverWhatWaits() throws SQLException {
        assertThat(buffers(ParkedQueue.WAITED_FOR, "'relay'", "''", "-1", "'relay'", "500"))
                .isLessThan(BUFFERS);
    }

    @Test
    void lookingForBlockedKeysReadsARowForEach() throws SQLException {
        String topics = "array(select 'orders' from generate_series(1, 100))";
        String keys = "array(select 'k' || n * 7 from generate_series(1, 100) n)";
        assertThat(buffers(ParkedTable.BLOCKED, topics, keys, "'relay'")).isLessThan(100 * 8);
    }

    @Test
    void whatHasWaitedIsReadAsFarAsItIsSent() throws SQLException {
        assertThat(buffers(
                        ParkedQueue.WAITING,
                        "'relay'",
                        "'missing1'",
                        "-1",
                        "'{1}'::int8[]",
                        "50",
                        "'relay'",
                        "'relay'",
                        "50",
                        "50"))
                .isLessThan(50 * 8);
    }

    @Test
    void aSearchForAnEventReadsItsPage() throws SQLException {
        EventQuery query = EventQuery.of(UUID.randomUUID());
        String page = EventPages.sql(
                FoundEvent.Place.PARKED, EventPages.Order.DOWNWARDS, query, OutboxDatabaseFixture.SCHEMA);
        assertThat(buffers(page, "'relay'", Long.toString(Long.MAX_VALUE), "100", "'" + query.id() + "'", "1"))
                .isLessThan(BUFFERS);
        assertThat(buffers(TopicCounts.PARKED, "'relay'", "100")).isLessThan(BUFFERS);
    }

    @Test
    void aListReadsAsFarAsItIsLong() throws SQLException {
        assertThat(list(ParkedSelection.ALL, "100")).isLessThan(BUFFERS);
        assertThat(list(ParkedSelections.number(17, 18), "100", "array[17, 18]::int8[]"))
                .isLessThan(BUFFERS);
    }

    @Test
    void aListOfAKeyReadsOnlyThatKey() throws SQLException {
        assertThat(list(ParkedSelections.key("orders", "k77"), "100", "'orders'", "'k77'", "'orders'", "'k77'"))
                .isLessThan(BUFFERS);
        assertThat(list(
                        ParkedSelections.key("missing1", "none"),
                        "100",
                        "'missing1'",
                        "'none'",
                        "'missing1'",
                        "'none'"))
                .isLessThan(BUFFERS);
    }

    private static long list(ParkedSelection which, String most, String... selected) throws SQLException {
        List<String> values = new ArrayList<>();
        for (int part = 0; part < 2; part++) {
            values.add("'relay'");
            values.addAll(List.of(selected));
            values.add(most);
        }
        return buffers(ParkedRows.listSql(which, OutboxDatabaseFixture.SCHEMA), values.toArray(String[]::new));
    }

    private static long buffers(String statement, String... values) throws SQLException {
        String sql = ParkedTable.sql(statement, OutboxDatabaseFixture.SCHEMA);
        for (String value : values) {
            sql = sql.replaceFirst("\\?", Matcher.quoteReplacement(value));
        }
        assertThat(sql).doesNotContain("?");
        StringBuilder plan = new StringBuilder();
        try (Statement explain = reading.createStatement();
                ResultSet row = explain.executeQuery("explain (analyze, buffers) " + sql)) {
            while (row.next()) {
                plan.append(row.getString(1)).append('\n');
            }
        }
        assertThat(plan.toString()).doesNotContain("Seq Scan on outbox_parked");
        Matcher total = Pattern.compile("Buffers: shared(?: hit=(\\d+))?(?: read=(\\d+))?")
                .matcher(plan);
        assertThat(total.find()).as(plan.toString()).isTrue();
        long buffers = number(total.group(1)) + number(total.group(2));
        return buffers;
    }

    private static long number(String group) {
        return group == null ? 0 : Long.parseLong(group);
    }
}
