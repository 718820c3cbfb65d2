package dev.twinbox.proof.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.PayaraMicro;
import dev.twinbox.proof.landscape.BuiltFile;
import dev.twinbox.proof.landscape.Servers;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** The sample's orders service, killed at a step of an order's transaction. JPA writes the order, Twinbox the event. */
final class ProducerCrash implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(4);

    private static final String ORDERS = "select count(*) from purchase_order";
    private static final String EVENTS = "select count(*) from outbox_event";

    private static final String CONTRADICTIONS = """
            select count(*)
              from purchase_order o
              full join outbox_event e on o.id = (convert_from(e.payload, 'UTF8')::json ->> 'orderId')::bigint
             where o.id is null or e.id is null""";

    /**
     * @param database what it held of the order; nothing changes it later
     * @param lost whether an order has no event, or an event no order
     * @param twice whether an order has more than one event
     */
    record Seen(String database, boolean lost, boolean twice) {}

    private final ProofServers servers;
    private final String database;
    private final Map<ProducerStep, KillSwitch> kills = new EnumMap<>(ProducerStep.class);
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final PayaraMicro server;

    ProducerCrash(ProofServers servers) throws SQLException {
        this.servers = servers;
        this.database = servers.newName("producer");
        servers.createOutboxDatabase(database);
        Path folder = servers.folder(database);
        Stream.of(ProducerStep.values())
                .forEach(step -> kills.put(step, KillSwitch.at(step.point(), folder.resolve(step.number()))));
        Servers started = servers.servers();
        this.server = started.service(
                        started.installation().file(BuiltFile.ORDERS),
                        started.applicationDatabase(
                                started.directly(), database, started.postgres().user()))
                .jvmOptions("-XX:TieredStopAtLevel=1")
                .jvmOptions(KillSwitch.jvmOptions(servers.byteman(), folder, kills.values()))
                .build();
    }

    Seen kill(ProducerStep step) throws SQLException {
        KillSwitch kill = kills.get(step);
        try {
            server.start().awaitHttp("/orders/api/orders", LIMIT);
            assertThat(order().join().statusCode()).as(server.log()).isEqualTo(200);
            long orders = count(ORDERS);
            long events = count(EVENTS);
            kill.arm();
            CompletableFuture<HttpResponse<Void>> unanswered = order();
            kill.awaitReached(server);
            kill.fire(server);
            assertThat(unanswered).failsWithin(LIMIT);
            return look(orders, events);
        } catch (RuntimeException | SQLException | Error e) {
            server.kill();
            kill.disarm();
            throw e;
        }
    }

    /**
     * @param orders how many there were before
     * @param events how many there were before
     */
    private Seen look(long orders, long events) throws SQLException {
        boolean order = count(ORDERS) > orders;
        boolean event = count(EVENTS) > events;
        return new Seen(
                order && event ? "order and event" : order ? "order" : event ? "event" : "nothing",
                count(CONTRADICTIONS) > 0,
                count(EVENTS) > count(ORDERS));
    }

    private CompletableFuture<HttpResponse<Void>> order() {
        URI one = server.uri("/orders/api/orders?count=1&customer=7");
        return http.sendAsync(
                HttpRequest.newBuilder(one)
                        .POST(HttpRequest.BodyPublishers.noBody())
                        .build(),
                HttpResponse.BodyHandlers.discarding());
    }

    private long count(String sql) throws SQLException {
        try (Connection connection = servers.postgres().connect(database);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    static MatrixRow row(ProducerStep step, Seen seen) {
        return new MatrixRow(
                step.number(),
                step.step(),
                seen.database(),
                "–",
                "–",
                Chance.of(List.of(seen.lost())),
                Chance.of(List.of(seen.twice())),
                Chance.NONE);
    }

    @Override
    public void close() {
        server.close();
    }
}
