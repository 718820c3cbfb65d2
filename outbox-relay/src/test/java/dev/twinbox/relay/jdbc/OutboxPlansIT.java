package dev.twinbox.relay.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.relay.OutboxDatabaseFixture;
import jakarta.json.Json;
import jakarta.json.JsonArray;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.StringReader;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * No plan reads history. The table has a million rows that were sent long ago, with and without statistics, while
 * another session holds back vacuum. This includes the sixth execution, when PostgreSQL would switch to a generic plan.
 */
class OutboxPlansIT {
    private static final int HISTORY = 1_000_000;
    private static final SqlIdentifier EVENTS = OutboxDatabaseFixture.SCHEMA.events();
    /**
     * Buffers of index and table together. An index descent takes 3 or 4, for each of three slots and for each branch.
     */
    private static final long BUFFERS_OF_A_POLL = 60;

    private static final String INDEX =
            "select indexrelid::regclass::text from pg_index" + " where indrelid = 'outbox_event'::regclass limit 1";

    private static OutboxDatabaseFixture database;
    private static Connection holder;
    private static Connection unfinished;
    private static Connection reading;

    /** What one execution read, and how many rows it sorted. */
    private record Touched(long rows, long buffers, long sorted, List<String> scans) {}

    @BeforeAll
    static void relayAMillionRows() throws SQLException {
        database = OutboxDatabaseFixture.create();
        reading = database.relayDatabase().connect();
        holder = database.connect();
        holder.setAutoCommit(false);
        holder.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        OutboxDatabaseFixture.query(holder, "select now()");
        unfinished = database.connect();
        unfinished.setAutoCommit(false);
        String early =
                OutboxDatabaseFixture.query(unfinished, "select nextval('outbox_event_seq'), pg_current_xact_id()");
        try (Connection owner = database.connect()) {
            List<String> indexes = new ArrayList<>();
            String name;
            // Filling a table is faster without indexes.
            while ((name = OutboxDatabaseFixture.query(owner, INDEX)) != null) {
                indexes.add(OutboxDatabaseFixture.query(owner, "select pg_get_indexdef('" + name + "'::regclass)"));
                OutboxDatabaseFixture.execute(owner, "drop index " + name);
            }
            assertThat(indexes).hasSize(2);
            OutboxDatabaseFixture.execute(
                    owner,
                    "insert into outbox_event (slot, id, topic, key, type, source, occurred_at, content_type, payload)"
                            + " select i % 2, gen_random_uuid(), 'orders', 'k' || i % 1000, 't', '/s', now(),"
                            + " 'text/plain', 'x' from generate_series(1, " + HISTORY + ") i");
            for (String index : indexes) {
                OutboxDatabaseFixture.execute(owner, index.replace(" ON ONLY ", " ON "));
            }
        }
        // Its transaction and number are older than all of history. It uses one slot, so the others can be emptied.
        OutboxDatabaseFixture.execute(
                unfinished,
                "insert into outbox_event (seq, id, topic, key, type, source, occurred_at, content_type) values ("
                        + early + ", gen_random_uuid(), 'orders', 'early', 't', '/s', now(), 'text/plain')");
    }

    @AfterAll
    static void close() throws SQLException {
        for (Connection connection : List.of(holder, unfinished, reading)) {
            connection.close();
        }
    }

    /** A plan from an earlier test must not be in the cache. */
    @BeforeEach
    void forgetPlans() throws SQLException {
        OutboxDatabaseFixture.execute(reading, "deallocate all");
        OutboxTable.planOnce(reading);
    }

    @ParameterizedTest
    @EnumSource
    void anIdlePollReadsNothing(ByteLimit cutting) throws SQLException {
        Snapshot from = now();
        Touched touched = sixthExecution(
                OutboxTable.openWindow(cutting, EVENTS, LargestEvent.UNLIMITED), cutting, openWindow(from));
        assertThat(touched.rows()).as(touched.toString()).isZero();
        assertThat(touched.buffers()).as(touched.toString()).isLessThan(BUFFERS_OF_A_POLL);
    }

    @ParameterizedTest
    @EnumSource
    void aPollReadsWhatIsNewAndWhatWasInProgressAndNoMore(ByteLimit cutting) throws SQLException {
        Snapshot from = now();
        insert(2, 100); // The empty slot: it has just become active.
        Touched touched = sixthExecution(
                OutboxTable.openWindow(cutting, EVENTS, LargestEvent.UNLIMITED), cutting, openWindow(from));
        assertThat(touched.rows())
                .as(touched.toString())
                .isBetween(200L, 400L); // once for the bound, once for the page
        assertThat(touched.buffers()).as(touched.toString()).isLessThan(BUFFERS_OF_A_POLL + 100);
    }

    @ParameterizedTest
    @EnumSource
    void aFollowingPageReadsItsOwnRows(ByteLimit cutting) throws SQLException {
        Snapshot from = now();
        long first = insert(0, 1_000);
        Touched touched = sixthExecution(
                OutboxTable.nextPage(cutting, EVENTS, LargestEvent.UNLIMITED),
                cutting,
                nextPage(from, now(), first + 300));
        assertThat(touched.rows()).as(touched.toString()).isBetween(200L, 210L);
        assertThat(touched.sorted()).as("rows come in order: " + touched).isZero();
        assertThat(touched.buffers()).as(touched.toString()).isLessThan(BUFFERS_OF_A_POLL + 100);
    }

    /** The check under the lock of a slot with half a million rows. None is unsent, and none is read. */
    @Test
    void lookingForUnsentEventsOfASlotReadsNoHistory() throws SQLException {
        saveAsSent(now());
        Touched touched = sixthExecution(EventSlots.sql(EventSlots.UNSENT, OutboxDatabaseFixture.SCHEMA, 0), "'relay'");
        assertThat(touched.rows()).as(touched.toString()).isZero();
        assertThat(touched.buffers()).as(touched.toString()).isLessThan(BUFFERS_OF_A_POLL);
    }

    @Test
    void statisticsDoNotTalkThePlannerIntoAnythingElse() throws SQLException {
        try (Connection owner = database.connect()) {
            OutboxDatabaseFixture.execute(owner, "analyze outbox_event");
        }
        for (ByteLimit cutting : ByteLimit.values()) {
            anIdlePollReadsNothing(cutting);
            aPollReadsWhatIsNewAndWhatWasInProgressAndNoMore(cutting);
            aFollowingPageReadsItsOwnRows(cutting);
        }
        lookingForUnsentEventsOfASlotReadsNoHistory();
    }

    @Test
    void afterASlotWasEmptiedThePlansAreTheSame() throws SQLException {
        EventSlots slots = new EventSlots(reading, OutboxDatabaseFixture.SCHEMA, "relay");
        saveAsSent(now());
        // The unfinished transaction uses the slot that was active when it began.
        assertThat(slots.tryEmpty(0).equals(EventSlots.Outcome.EMPTIED)
                        || slots.tryEmpty(1).equals(EventSlots.Outcome.EMPTIED))
                .isTrue();
        for (ByteLimit cutting : ByteLimit.values()) {
            anIdlePollReadsNothing(cutting);
            aPollReadsWhatIsNewAndWhatWasInProgressAndNoMore(cutting);
            aFollowingPageReadsItsOwnRows(cutting);
        }
        lookingForUnsentEventsOfASlotReadsNoHistory();
    }

    /** The plan is made once, on the day of the installation. It must be good forever, with or without statistics. */
    @ParameterizedTest
    @EnumSource
    void aPlanOfAnEmptyOutboxIsAsGood(ByteLimit cutting) throws SQLException {
        OutboxDatabaseFixture fresh = OutboxDatabaseFixture.create();
        try (Connection poller = fresh.relayDatabase().connect();
                Connection owner = fresh.connect()) {
            OutboxTable.planOnce(poller);
            execute(
                    poller,
                    OutboxTable.openWindow(cutting, EVENTS, LargestEvent.UNLIMITED),
                    parameters(cutting, openWindow(Snapshot.parse("5:5:"))));
            OutboxDatabaseFixture.execute(
                    owner,
                    "insert into outbox_event (slot, id, topic, key, type, source, occurred_at, content_type, payload)"
                            + " select i % 3, gen_random_uuid(), 'orders', 'k' || i % 1000, 't', '/s', now(),"
                            + " 'text/plain', 'x' from generate_series(1, 100000) i");
            Snapshot sent = Snapshot.parse(OutboxDatabaseFixture.query(owner, "select pg_current_snapshot()::text"));
            Touched touched = touched(poller, parameters(cutting, openWindow(sent)));
            assertThat(touched.rows()).as(touched.toString()).isZero();
            assertThat(touched.buffers()).as(touched.toString()).isLessThan(BUFFERS_OF_A_POLL);
        }
    }

    private static void saveAsSent(Snapshot from) throws SQLException {
        UUID owner = UUID.randomUUID();
        OutboxDatabaseFixture.execute(reading, "delete from outbox_lease");
        long epoch =
                new LeaseTable(reading, OutboxDatabaseFixture.SCHEMA, "relay").take(owner, Duration.ofMinutes(1), 1);
        PositionTable positions = new PositionTable(reading, OutboxDatabaseFixture.SCHEMA, "relay");
        long number = positions.load().number() + 1;
        assertThat(positions.save(new PositionTable.Saved(number, Position.closed(from)), owner, epoch))
                .isTrue();
    }

    private static Snapshot now() throws SQLException {
        Snapshot now = Snapshot.parse(OutboxDatabaseFixture.query(reading, "select pg_current_snapshot()::text"));
        assertThat(now.inProgress())
                .as("the unfinished transaction is in progress")
                .isNotEqualTo("{}");
        return now;
    }

    /** Returns the first number. */
    private static long insert(int slot, int rows) throws SQLException {
        return Long.parseLong(OutboxDatabaseFixture.query(
                reading,
                "with i as (insert into outbox_event (slot, id, topic, key, type, source, occurred_at, content_type,"
                        + " payload) select " + slot
                        + ", gen_random_uuid(), 'orders', 'k', 't', '/s', now(), 'text/plain', 'x'"
                        + " from generate_series(1, " + rows + ") returning seq) select min(seq) from i"));
    }

    private static String openWindow(Snapshot from) {
        return "'%s', null, 1000, null, '%s', 1000, 200, '%s', 200, 200, 200"
                .formatted(from.xmax(), from.xmax(), from.inProgress());
    }

    private static String nextPage(Snapshot from, Snapshot to, long seq) {
        return "%d, '%s', '%s', 200, '%s', %d, 200, '%s', 200, 200"
                .formatted(seq, from.xmax(), to, from.inProgress(), seq, to);
    }

    private static Touched sixthExecution(String statement, ByteLimit cutting, String branches) throws SQLException {
        return sixthExecution(statement, parameters(cutting, branches));
    }

    private static String parameters(ByteLimit cutting, String branches) {
        return cutting == ByteLimit.BY_ROW ? "5000, " + branches : branches + ", 1000000";
    }

    private static Touched sixthExecution(String statement, String parameters) throws SQLException {
        execute(reading, statement, parameters);
        return touched(reading, parameters);
    }

    /** Runs the statement five times. */
    private static void execute(Connection connection, String statement, String parameters) throws SQLException {
        String sql = statement;
        for (int number = 1; sql.indexOf('?') >= 0; number++) {
            sql = sql.replaceFirst("\\?", "\\$" + number);
        }
        OutboxDatabaseFixture.execute(connection, "deallocate all; prepare poll as " + sql);
        for (int i = 0; i < 5; i++) {
            OutboxDatabaseFixture.execute(connection, "execute poll(" + parameters + ")");
        }
    }

    private static Touched touched(Connection connection, String parameters) throws SQLException {
        String json = OutboxDatabaseFixture.query(
                connection, "explain (analyze, buffers, format json) execute poll(" + parameters + ")");
        try (JsonReader reader = Json.createReader(new StringReader(json))) {
            JsonObject plan = reader.readArray().getJsonObject(0).getJsonObject("Plan");
            List<JsonObject> nodes = new ArrayList<>();
            collect(plan, nodes);
            List<JsonObject> scans = nodes.stream()
                    .filter(node -> node.getString("Relation Name", "").startsWith("outbox_event"))
                    .toList();
            assertThat(scans)
                    .as(json)
                    .isNotEmpty()
                    .allSatisfy(scan -> assertThat(scan.getString("Node Type")).startsWith("Index"));
            return new Touched(
                    scans.stream().mapToLong(OutboxPlansIT::rows).sum(),
                    plan.getJsonNumber("Shared Hit Blocks").longValue()
                            + plan.getJsonNumber("Shared Read Blocks").longValue(),
                    nodes.stream()
                            .filter(node -> node.getString("Node Type").endsWith("Sort"))
                            .mapToLong(OutboxPlansIT::rows)
                            .sum(),
                    scans.stream().map(OutboxPlansIT::describe).collect(Collectors.toList()));
        }
    }

    private static void collect(JsonObject node, List<JsonObject> nodes) {
        nodes.add(node);
        JsonArray children = node.getJsonArray("Plans");
        if (children != null) {
            children.forEach(child -> collect(child.asJsonObject(), nodes));
        }
    }

    private static long rows(JsonObject scan) {
        double each = scan.getJsonNumber("Actual Rows").doubleValue();
        if (scan.containsKey("Rows Removed by Filter")) {
            each += scan.getJsonNumber("Rows Removed by Filter").doubleValue();
        }
        return Math.round(each * scan.getJsonNumber("Actual Loops").doubleValue());
    }

    private static String describe(JsonObject scan) {
        return scan.getString("Node Type") + " on " + scan.getString("Relation Name") + " by "
                + scan.getString("Index Name", "?") + ": " + rows(scan) + " rows";
    }
}
