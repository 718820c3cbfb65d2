package dev.twinbox.proof.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.Ledger;
import dev.twinbox.fixtures.LedgerReport;
import dev.twinbox.proof.landscape.BuiltFile;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Landscape;
import dev.twinbox.proof.landscape.OrdersClient;
import dev.twinbox.proof.landscape.Part;
import dev.twinbox.proof.landscape.Plan;
import dev.twinbox.proof.landscape.StartProgress;
import dev.twinbox.proof.landscape.Supervisor;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The whole path of an event, from a REST call to a shipment in another database, while processes are killed. Each
 * fault comes at a point of progress, never after a time, while orders are being placed.
 */
@Tag("proof")
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class EndToEndIT {

    private static final int ORDERS = 20_000;
    private static final int CUSTOMERS = 1_000;

    /** How many orders may be placed beyond the next fault, and again this many after it. */
    private static final int AHEAD = 1_500;

    /** A limit for what takes seconds on two free cores. On a busy machine Payara starts ten times slower. */
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private static final String EVENTS_IN_BUSINESS_ORDER = """
            select e.topic, e.key, e.id, e.payload
              from outbox_event e
              join purchase_order o on o.id = (convert_from(e.payload, 'UTF8')::json ->> 'orderId')::bigint
             order by o.customer_id, o.number""";

    private static final String ORDERS_AND_EVENTS_WITHOUT_EACH_OTHER = """
            select count(*)
              from purchase_order o
              full join outbox_event e on o.id = (convert_from(e.payload, 'UTF8')::json ->> 'orderId')::bigint
             where o.id is null or e.id is null""";

    private static final String SHIPMENTS_OUT_OF_ORDER = """
            select count(*) from (
              select order_number - row_number() over (partition by customer_id order by id) as shift from shipment) s
             where shift <> 0""";

    private static Supervisor supervisor;
    private static Landscape landscape;

    @BeforeAll
    static void start() throws SQLException {
        landscape = new Landscape(
                Installation.in(Path.of(System.getProperty("twinbox.root")), BuiltFile.SAMPLE), Plan.withoutSpares());
        supervisor = new Supervisor(landscape, System.out::println);
        supervisor.start(new StartProgress(System.out::println));
        keepWhatWasSent();
    }

    /** Events are compared at the end, so the slot must not change at a full hour. */
    private static void keepWhatWasSent() throws SQLException {
        try (Connection connection = landscape.postgres().connect(Landscape.ORDERS_DATABASE);
                Statement statement = connection.createStatement()) {
            statement.execute("alter table outbox_event alter column slot set default 0");
        }
    }

    @AfterAll
    static void stop() {
        supervisor.close();
    }

    @Test
    void twentyThousandOrdersAreShippedOnceAndInOrderThroughKillsAndRestarts() throws Exception {
        try (OrderLoad load =
                new OrderLoad(new OrdersClient(landscape.server(Part.PRODUCER).uri(Landscape.ORDERS_PATH)))) {
            at(load, 2_000, this::onKafka, supervisor.server(Part.RELAY_1)::kill);
            at(load, 4_000, this::shipped, supervisor.server(Part.RECEIVER_1)::kill);
            at(load, 7_000, this::onKafka, supervisor.server(Part.BROKER_1)::restart);
            at(load, 9_000, this::onKafka, supervisor.server(Part.RELAY_1)::kill);
            at(load, 12_000, this::ordered, supervisor.server(Part.POSTGRES)::restart);
            at(load, 14_000, this::shipped, supervisor.server(Part.RECEIVER_1)::kill);
            at(load, 17_000, this::onKafka, supervisor.server(Part.RELAY_1)::kill);
            load.allow(ORDERS);
            load.awaitEnd();
            assertThat(load.declined()).as("orders rolled back").isPositive();
        }
        assertThat(ordered()).isGreaterThanOrEqualTo(ORDERS);
        await("shipments of all orders").atMost(LIMIT).ignoreExceptions().until(() -> shipped() >= ordered());

        assertEachFaultHappened();
        assertLedger();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
            ?count=0 | count = "0" is not a whole number from 1 to 10000
            ?count=-1 | count = "-1" is not a whole number from 1 to 10000
            ?count=10001 | count = "10001" is not a whole number from 1 to 10000
            ?count=1.5 | count = "1.5" is not a whole number from 1 to 10000
            ?count=ten | count = "ten" is not a whole number from 1 to 10000
            ?count= | count = "" is not a whole number from 1 to 10000
            ?count=99999999999 | count = "99999999999" is not a whole number from 1 to 10000
            ?count=1&customer=0 | customer = "0" is not a whole number from 1 to 1000
            ?count=1&customer=1001 | customer = "1001" is not a whole number from 1 to 1000
            ?customer=me | customer = "me" is not a whole number from 1 to 1000
            ?customer=%22%0A%3Cb%3E | is not a whole number from 1 to 1000
            """)
    void aWrongRequestIsAnsweredWithWhatIsWrongAndPlacesNothing(String query, String reason) throws Exception {
        await("all servers up").atMost(LIMIT).until(supervisor::isAllUp);
        long before = ordered();
        HttpResponse<String> answer = post(query);

        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
        assertThat(answer.headers().firstValue("content-type")).hasValue("application/json");
        assertThat(answer.body()).contains(reason.replace("\"", "\\\""));
        assertThat(ordered()).isEqualTo(before);
    }

    private static HttpResponse<String> post(String query) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(
                        landscape.server(Part.PRODUCER).uri(Landscape.ORDERS_PATH + query))
                .timeout(LIMIT)
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }

    /** Allows orders beyond the threshold, and injects the fault when the progress reaches it. */
    private void at(OrderLoad load, int threshold, Callable<Long> progress, Runnable fault) {
        // The victim of the last fault must run again, or this fault has no victim.
        await("all servers up").atMost(LIMIT).until(supervisor::isAllUp);
        load.allow(threshold + AHEAD);
        await("progress of " + threshold)
                .atMost(LIMIT)
                .pollInterval(Duration.ofMillis(20))
                .ignoreExceptions()
                .until(() -> progress.call() >= threshold);
        // A receiver that recovers may have handled all allowed orders: the fault must meet work.
        load.allow(threshold + 2 * AHEAD);
        fault.run();
    }

    private void assertEachFaultHappened() {
        assertThat(supervisor.server(Part.RELAY_1).restarts())
                .as("relay killed")
                .isEqualTo(3);
        assertThat(supervisor.server(Part.RECEIVER_1).restarts())
                .as("receiver killed")
                .isEqualTo(2);
        assertThat(supervisor.server(Part.BROKER_1).restarts())
                .as("Kafka restarted")
                .isEqualTo(1);
        assertThat(supervisor.server(Part.POSTGRES).restarts())
                .as("PostgreSQL restarted")
                .isEqualTo(1);
    }

    private void assertLedger() throws SQLException {
        assertThat(number(Landscape.ORDERS_DATABASE, ORDERS_AND_EVENTS_WITHOUT_EACH_OTHER))
                .as("orders without an event, events without an order")
                .isZero();
        assertThat(number(Landscape.ORDERS_DATABASE, "select count(distinct key) from outbox_event"))
                .isEqualTo(CUSTOMERS);
        try (Connection orders = landscape.postgres().connect(Landscape.ORDERS_DATABASE);
                Connection shipping = landscape.postgres().connect(Landscape.SHIPPING_DATABASE)) {
            LedgerReport report = Ledger.create()
                    .committed(orders, EVENTS_IN_BUSINESS_ORDER)
                    .published(landscape.bootstrapServers())
                    .effects("shipping", shipping, "select event_id from shipment")
                    .assertExact();
            System.out.println(report);
        }
        assertThat(number(Landscape.SHIPPING_DATABASE, SHIPMENTS_OUT_OF_ORDER))
                .as("shipments that are not their customer's next one")
                .isZero();
    }

    private long ordered() throws SQLException {
        return number(Landscape.ORDERS_DATABASE, "select count(*) from purchase_order");
    }

    private long shipped() throws SQLException {
        return number(Landscape.SHIPPING_DATABASE, "select count(*) from shipment");
    }

    private long onKafka() {
        return landscape.servers().kafka().endOffsets(Landscape.TOPIC).values().stream()
                .mapToLong(Long::longValue)
                .sum();
    }

    private static long number(String database, String sql) throws SQLException {
        try (Connection connection = landscape.postgres().connect(database);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }
}
