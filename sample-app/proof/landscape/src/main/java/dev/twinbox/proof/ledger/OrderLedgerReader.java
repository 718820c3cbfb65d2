package dev.twinbox.proof.ledger;

import dev.twinbox.fixtures.LedgerReport;
import dev.twinbox.proof.landscape.Landscape;
import dev.twinbox.proof.ledger.OrderLedger.Partitions;
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
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/**
 * Reads what is new since the last look into a ledger, directly from the servers. One thread uses it.
 */
public final class OrderLedgerReader implements AutoCloseable {

    private static final int FETCHED = 10_000;

    private static final String SNAPSHOT =
            "-- ledger: snapshot\nselect pg_snapshot_xmin(pg_current_snapshot())::text::bigint";

    // A transaction that was in progress at the last look has an id at or above that look's xmin. The 32 bits of a new
    // server have not wrapped.
    private static final String SHIPMENTS = """
            -- ledger: shipments
            select id, event_id, order_id, customer_id, order_number
              from shipment where xmin::text::bigint >= ? order by xmin::text::bigint, id""";

    private static final String ORDERS = """
            -- ledger: orders
            select o.customer_id, o.number, o.id
              from unnest(?::bigint[]) with ordinality as known (number, customer_id)
              join purchase_order o on o.customer_id = known.customer_id and o.number > known.number
             order by o.customer_id, o.number""";

    private static final String PENDING = """
            -- ledger: pending
            select (convert_from(payload, 'UTF8')::json ->> 'orderId')::bigint from outbox_event where topic = 'orders'
            union all
            select (convert_from(payload, 'UTF8')::json ->> 'orderId')::bigint from outbox_parked
             where topic = 'orders' and payload is not null""";

    private static final String PARKED_OUTBOX = "-- ledger: parked\nselect count(*) from outbox_parked";
    private static final String PARKED_INBOX = "-- ledger: parked\nselect count(*) from inbox_parked";

    private final Landscape landscape;
    private final long customers;
    private final Limits limits;
    private final Consumer<ConsumerRecord<byte[], byte[]>> listener;
    private final OrderLedger ledger;
    private final Jsonb jsonb = JsonbBuilder.create();
    private @Nullable TopicFollower follower;
    private long shipmentsSeenBelow;

    /**
     * How long a look waits.
     *
     * @param database for PostgreSQL
     * @param kafka for Kafka
     */
    public record Limits(Duration database, Duration kafka) {}

    /**
     * A reader with an empty ledger.
     *
     * @param customers the highest customer id
     * @param listener takes each record that is read from Kafka
     */
    public OrderLedgerReader(
            Landscape landscape,
            long customers,
            Partitions partitions,
            Limits limits,
            Consumer<ConsumerRecord<byte[], byte[]>> listener) {
        this.landscape = landscape;
        this.customers = customers;
        this.limits = limits;
        this.listener = listener;
        this.ledger = new OrderLedger(partitions);
    }

    /**
     * One look while everything runs.
     *
     * @throws SQLException if the database does not answer; what was read so far counts, and the look has to be
     *     repeated
     * @throws KafkaException likewise for Kafka
     */
    public Look look() throws SQLException {
        long parkedInbox = read();
        try (Connection orders = open(Landscape.ORDERS_DATABASE)) {
            readOrders(orders);
            Set<Long> pending = readPending(orders);
            long parkedOutbox = number(orders, PARKED_OUTBOX);
            orders.commit();
            LedgerReport report = ledger.compare(pending);
            return new Look(
                    report,
                    ledger.events(),
                    ledger.onKafka(),
                    ledger.unsent(),
                    ledger.unshipped(),
                    parkedOutbox,
                    parkedInbox);
        }
    }

    /** The look when no event is on its way any more. */
    public LedgerReport lastLook() throws SQLException {
        read();
        try (Connection orders = open(Landscape.ORDERS_DATABASE)) {
            readOrders(orders);
            orders.commit();
        }
        return ledger.compareAtTheEnd();
    }

    private long read() throws SQLException {
        List<Shipment> shipments;
        long snapshot;
        long parked;
        try (Connection shipping = open(Landscape.SHIPPING_DATABASE)) {
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
        Connection connection = landscape.postgres().connect(database, limits.database());
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
            open = new TopicFollower(landscape.bootstrapServers(), Landscape.TOPIC, limits.kafka());
            follower = open;
        }
        open.readToEnd(this::take);
    }

    private void take(ConsumerRecord<byte[], byte[]> record) {
        ledger.published(
                OrderEvent.of(record, jsonb), record.partition(), record.offset(), Arrays.hashCode(record.value()));
        listener.accept(record);
    }

    private void readOrders(Connection connection) throws SQLException {
        Long[] known =
                LongStream.rangeClosed(1, customers).mapToObj(ledger::lastOrder).toArray(Long[]::new);
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
     * @param events in the outbox or on Kafka
     * @param onKafka different events on Kafka
     * @param unsent committed and not on Kafka yet
     * @param unshipped on Kafka and not handled yet
     * @param parkedByRelay parked on the way to Kafka
     * @param parkedByReceiver parked on the way to the handler
     */
    public record Look(
            LedgerReport report,
            long events,
            long onKafka,
            long unsent,
            long unshipped,
            long parkedByRelay,
            long parkedByReceiver) {

        /** Whether no event is on its way. */
        public boolean isAtRest() {
            return unsent == 0 && unshipped == 0 && parkedByRelay == 0 && parkedByReceiver == 0;
        }
    }

    private record Shipment(long id, OrderEvent event) {}
}
