package dev.twinbox.inbox.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.DeliveryContract;
import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.NoSerializer;
import dev.twinbox.inbox.event.Aliases;
import dev.twinbox.inbox.event.Delivery;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.HandlerShape;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.event.TopicFormat;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.jdbc.SqlIdentifier;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

/** Guarantee G7: the cost of a claim does not depend on how many events were handled before. */
class ClaimPlanIT {

    private static final SqlIdentifier INBOX = new SqlIdentifier(null, "inbox_event");
    /**
     * The driver prepares on the server from the fifth execution on. The server keeps a plan from the sixth of these
     * on.
     */
    private static final int UNTIL_THE_PLAN_IS_KEPT = 12;

    private static final int BATCH = 500;

    private final InboxTable inbox = new InboxTable(INBOX, new SqlIdentifier(null, "inbox_parked"));
    private final Handler handler = handler();

    @Test
    void aPlanThatWasMadeForASmallTableReadsNoHistoryWhenTheTableHasGrown() throws SQLException {
        Database database = new Database("claim_plan");
        // Statistics from a time with ten rows and no others. In production that lasts until the next analyze.
        database.execute("alter table inbox_event set (autovacuum_enabled = off);");
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            inbox.claim(connection, "g", pairs("early", 10), (delivery, result) -> {});
            connection.commit();
            database.execute("analyze inbox_event");
            for (int i = 0; i < UNTIL_THE_PLAN_IS_KEPT; i++) {
                claimAndGiveBack(connection, BATCH);
            }
            addHistory(database);

            claimAndGiveBack(connection, BATCH);

            // To give claims back reads what it deletes. A later claim may meet the deleted rows again.
            assertReadsNoHistory(connection, 50_000);
        }
    }

    /** A new installation under load, before its table is analyzed for the first time. */
    @Test
    void claimsStayFlatWhileANewTableGrows() throws SQLException {
        Database database = new Database("claim_plan_new");
        database.execute("alter table inbox_event set (autovacuum_enabled = off)");
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < 60; i++) {
                inbox.claim(connection, "g", pairs("batch" + i, BATCH), (delivery, result) -> {});
                connection.commit();
            }

            inbox.claim(connection, "g", pairs("last", BATCH), (delivery, result) -> {});

            assertReadsNoHistory(connection, BATCH);
        }
    }

    /** With one event per claim, planning would be most of the work. */
    @Test
    void aClaimIsPlannedOnce() throws SQLException {
        Database database = new Database("claim_plan_kept");
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < 2 * UNTIL_THE_PLAN_IS_KEPT; i++) {
                inbox.claim(connection, "g", pairs("single" + i, 1), (delivery, result) -> {});
                connection.commit();
            }

            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery("""
                            select sum(custom_plans), sum(generic_plans) from pg_prepared_statements
                             where statement like '%-- inbox: claim%'""")) {
                row.next();
                assertThat(row.getLong(1)).as("planned anew").isZero();
                assertThat(row.getLong(2)).as("planned once").isGreaterThan(UNTIL_THE_PLAN_IS_KEPT);
            }
        }
    }

    private static void addHistory(Database database) {
        database.execute("insert into inbox_event select 'g', 'h', 'old-' || i from generate_series(1, 100000) i");
    }

    private void claimAndGiveBack(Connection connection, int events) throws SQLException {
        List<Delivery> claimed = new ArrayList<>();
        inbox.claim(connection, "g", pairs("new", events), (delivery, result) -> claimed.add(delivery));
        assertThat(claimed).hasSize(events);
        inbox.unclaim(connection, "g", claimed);
    }

    /** Checks it by what this transaction, which is still open, has read. */
    private static void assertReadsNoHistory(Connection connection, long rows) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select seq_scan, idx_tup_fetch from pg_stat_xact_user_tables "
                        + "where relid = 'inbox_event'::regclass")) {
            row.next();
            assertThat(row.getLong(1)).as("sequential scans").isZero();
            assertThat(row.getLong(2)).as("rows read by an index").isLessThanOrEqualTo(rows);
        }
    }

    private List<Delivery> pairs(String prefix, int number) {
        List<Delivery> pairs = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            pairs.add(new Delivery(handler, event(prefix + "-" + i)));
        }
        return pairs;
    }

    private ReceivedEvent event(String id) {
        ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>("t", 0, 0, utf8("key-" + id), utf8("{}"));
        record.headers().add(CloudEventHeaders.TYPE, utf8("order")).add(CloudEventHeaders.ID, utf8(id));
        return ReceivedEvent.of(
                record,
                new Subscription(
                        "g",
                        Map.of("t", Map.of("order", List.of(handler))),
                        Aliases.NONE,
                        TopicFormat.OfTopics.CLOUD_EVENTS,
                        UnknownType.SKIP,
                        new NoSerializer()));
    }

    private static Handler handler() {
        return new Handler(
                "h",
                DeliveryContract.EXACTLY_ONCE_EFFECT,
                HandlerShape.EVENT,
                String.class,
                MethodHandles.empty(Handler.CALL));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
