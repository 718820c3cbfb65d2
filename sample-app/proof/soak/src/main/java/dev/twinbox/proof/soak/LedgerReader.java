package dev.twinbox.proof.soak;

import dev.twinbox.fixtures.LedgerReport;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.proof.landscape.OrderEvent;
import dev.twinbox.proof.landscape.TopicFollower;
import jakarta.json.bind.Jsonb;
import jakarta.json.bind.JsonbBuilder;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/** Reads into a ledger what has come since the last look, past all proxies. One thread uses it. */
final class LedgerReader implements AutoCloseable {

    private static final Duration DATABASE_LIMIT = Duration.ofSeconds(60);
    private static final Duration KAFKA_LIMIT = Duration.ofSeconds(60);
    private static final int FETCHED = 10_000;

    private static final String SNAPSHOT =
            "-- soak: snapshot\nselect pg_snapshot_xmin(pg_current_snapshot())::text::bigint";

    // What was in progress at the last look has an xid at or above that look's xmin. A young server's 32 bits have not
    // wrapped.
    private static final String SHIPMENTS = """
            -- soak: shipments
            select id, event_id, order_id, customer_id, order_number
              from shipment where xmin::text::bigint >= ? order by xmin::text::bigint, id""";

    private static final String ORDERS = """
            -- soak: orders
            select o.customer_id, o.number, o.id
              from unnest(?::bigint[]) with ordinality as known (number, customer_id)
              join purchase_order o on o.customer_id = known.customer_id and o.number > known.number
             order by o.customer_id, o.number""";

    private static final String PENDING = """
            -- soak: pending
            select (convert_from(payload, 'UTF8')::json ->> 'orderId')::bigint from outbox_event
            union all
            select (convert_from(payload, 'UTF8')::json ->> 'orderId')::bigint from outbox_parked where payload is not null""";

    private static final String PARKED_OUTBOX = "-- soak: parked\nselect count(*) from outbox_parked";
    private static final String PARKED_INBOX = "-- soak: parked\nselect count(*) from inbox_parked";

    private final PostgresServer postgres;
    private final String bootstrapServers;
    private final SoakLedger ledger = new SoakLedger();
    private final Jsonb jsonb = JsonbBuilder.create();
    private @Nullable TopicFollower follower;
    private long shipmentsSeenBelow;

    LedgerReader(PostgresServer postgres, String bootstrapServers) {
        this.postgres = postgres;
        this.bootstrapServers = bootstrapServers;
    }

    /**
     * One look while everything runs.
     *
     * @throws SQLException if the database is away: what was read so far counts, and the look has to be made again
     * @throws KafkaException likewise
     */
    Look look() throws SQLException {
        long parkedInbox = read();
        try (Connection orders = open(SoakLandscape.ORDERS)) {
            readOrders(orders);
            Set<Long> pending = readPending(orders);
            long parkedOutbox = number(orders, PARKED_OUTBOX);
            orders.commit();
            return new Look(ledger.compare(pending), ledger.unsent(), ledger.unshipped(), parkedOutbox, parkedInbox);
        }
    }

    /** The look when everything has come to rest. */
    LedgerReport lastLook() throws SQLException {
        read();
        try (Connection orders = open(SoakLandscape.ORDERS)) {
            readOrders(orders);
            orders.commit();
        }
        return ledger.compareAtTheEnd();
    }

    private long read() throws SQLException {
        List<Shipment> shipments;
        long snapshot;
        long parked;
        try (Connection shipping = open(SoakLandscape.SHIPPING)) {
            snapshot = number(shipping, SNAPSHOT);
            shipments = readShipments(shipping);
            parked = number(shipping, PARKED_INBOX);
            shipping.commit();
        }
        readTopic();
        shipments.forEach(shipment -> ledger.shipped(shipment.id(), shipment.event()));
        shipmentsSeenBelow = snapshot;
        return parked;
    }

    private Connection open(String database) throws SQLException {
        Connection connection = postgres.connect(database, DATABASE_LIMIT);
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        connection.setReadOnly(true);
        return connection;
    }

    private List<Shipment> readShipments(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(SHIPMENTS)) {
            statement.setFetchSize(FETCHED);
            statement.setLong(1, shipmentsSeenBelow);
            List<Shipment> shipments = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    shipments.add(new Shipment(
                            rows.getLong(1),
                            new OrderEvent(rows.getString(2), rows.getLong(3), rows.getLong(4), rows.getLong(5))));
                }
            }
            return shipments;
        }
    }

    private void readTopic() {
        TopicFollower open = follower;
        if (open == null) {
            open = new TopicFollower(bootstrapServers, SoakLandscape.TOPIC, KAFKA_LIMIT);
            follower = open;
        }
        open.readToEnd(this::take);
    }

    private void take(ConsumerRecord<byte[], byte[]> record) {
        ledger.published(
                OrderEvent.of(record, jsonb), record.partition(), record.offset(), Arrays.hashCode(record.value()));
    }

    private void readOrders(Connection connection) throws SQLException {
        Long[] known = LongStream.rangeClosed(1, SoakLandscape.CUSTOMERS)
                .mapToObj(ledger::lastOrder)
                .toArray(Long[]::new);
        try (PreparedStatement statement = connection.prepareStatement(ORDERS)) {
            statement.setFetchSize(FETCHED);
            statement.setArray(1, connection.createArrayOf("bigint", known));
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    ledger.ordered(rows.getLong(1), rows.getLong(2), rows.getLong(3));
                }
            }
        }
    }

    private static Set<Long> readPending(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(PENDING)) {
            statement.setFetchSize(FETCHED);
            Set<Long> pending = new HashSet<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    pending.add(rows.getLong(1));
                }
            }
            return pending;
        }
    }

    private static long number(Connection connection, String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql);
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            return rows.getLong(1);
        }
    }

    @Override
    public void close() {
        if (follower != null) {
            follower.close();
        }
    }

    /**
     * What a look shows.
     *
     * @param unsent committed and not on Kafka yet
     * @param unshipped on Kafka and not handled yet
     * @param parkedByRelay set aside on the way to Kafka
     * @param parkedByReceiver set aside on the way to the handler
     */
    record Look(LedgerReport report, long unsent, long unshipped, long parkedByRelay, long parkedByReceiver) {

        /** Nothing is on its way. */
        boolean isAtRest() {
            return unsent == 0 && unshipped == 0 && parkedByRelay == 0 && parkedByReceiver == 0;
        }
    }

    private record Shipment(long id, OrderEvent event) {}
}
