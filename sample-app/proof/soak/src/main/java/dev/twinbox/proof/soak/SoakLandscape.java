package dev.twinbox.proof.soak;

import dev.twinbox.fixtures.ChildProcess;
import dev.twinbox.fixtures.ChildProcessException;
import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.PayaraMicro;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.fixtures.TcpProxy;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Landscape;
import dev.twinbox.proof.landscape.Part;
import dev.twinbox.proof.landscape.Plan;
import dev.twinbox.proof.landscape.Route;
import dev.twinbox.proof.landscape.Servers;
import dev.twinbox.proof.landscape.StartProgress;
import dev.twinbox.proof.soak.Fault.Target;
import java.net.URI;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The sample with spares, whose processes and connections can be broken. Every connection of a relay or a service
 * passes a
 * proxy.
 */
final class SoakLandscape implements AutoCloseable {

    /** The orders service has customers 1 to 1000. Those above are for transactions that it has no request for. */
    static final long CUSTOMERS = 1_010;

    static final long FIRST_CUSTOMER_OF_LONG_TRANSACTIONS = 1_001;

    /** On a busy machine, and while something else is broken, a process needs at most this long to be usable again. */
    static final Duration BACK_LIMIT = Duration.ofMinutes(25);

    private static final int PARTITIONS = 6;

    /** A server that has not deployed its application by then waits for a connection that was broken. */
    private static final Duration DEPLOYMENT_LIMIT = Duration.ofMinutes(15);

    private static final String READINESS = "/health/ready";

    /** After this time clients know of added partitions. Kafka's default, five minutes, would be most of a run. */
    private static final String METADATA_AGE_MS = "20000";

    private final Landscape landscape;
    private final Map<Target, List<TcpProxy>> links = new EnumMap<>(Target.class);
    private final AtomicInteger replaced = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final Versions versions;
    private final Roles roles;
    private boolean hasOutboxRoles;
    private boolean hasInboxRoles;

    /** @param root the top folder of the repository */
    SoakLandscape(Installation installation, Path root) {
        versions = new Versions(installation, root.resolve("target/soak/receivers"));
        landscape = new Landscape(
                installation,
                Plan.withSpares()
                        .withPartitions(PARTITIONS)
                        // A slot a minute: the outbox is emptied many times during a run.
                        .withOutbox(Map.of("twinbox.relay.retention", "PT1M"))
                        .withConfiguration(Map.of(
                                "twinbox.relay.kafka.metadata.max.age.ms", METADATA_AGE_MS,
                                "twinbox.inbox.kafka.metadata.max.age.ms", METADATA_AGE_MS,
                                "twinbox.relay.database.user", Roles.RELAY,
                                "orders.database.user", Roles.ORDERS,
                                "shipping.database.user", Roles.SHIPPING))
                        .withWars(Map.of(
                                Part.RECEIVER_1, versions.file(Part.RECEIVER_1),
                                Part.RECEIVER_2, versions.file(Part.RECEIVER_2)))
                        .withRoutes((servers, part) -> route(links, servers, part)));
        roles = new Roles(landscape.postgres(), Grants.of(root.resolve("docs/how-to/security.md")));
        landscape.postgres().withSetting("max_wal_size", "4GB");
        landscape
                .servers()
                .brokers()
                .forEach(broker -> broker.withSetting("min.insync.replicas", "2")
                        // A broker that is back leads again soon, so that its next end is a change of leaders, too.
                        .withSetting("leader.imbalance.check.interval.seconds", "15"));
    }

    private static Route route(Map<Target, List<TcpProxy>> links, Servers servers, Part part) {
        Target toPostgres = Target.valueOf(part + "_TO_POSTGRES");
        TcpProxy postgres = TcpProxy.to("127.0.0.1", servers.postgres().port());
        links.put(toPostgres, List.of(postgres));
        Route route = servers.directly().toPostgresThrough(postgres);
        return switch (part) {
            case RELAY_1, RELAY_2 -> route.toKafkaThrough(toKafka(links, servers, Target.valueOf(part + "_TO_KAFKA")));
            case RECEIVER_1, RECEIVER_2 -> route.toKafkaThrough(toKafka(links, servers, Target.RECEIVERS_TO_KAFKA));
            default -> route;
        };
    }

    private static List<TcpProxy> toKafka(Map<Target, List<TcpProxy>> links, Servers servers, Target link) {
        return links.computeIfAbsent(
                link, each -> servers.brokers().stream().map(KafkaBroker::proxy).toList());
    }

    /** Starts everything; returns when all of it can be used. */
    void start(Consumer<String> journal) throws SQLException {
        landscape.start(new StartProgress(journal), part -> {
            prepare(part);
            bringUp(part);
        });
        addCustomers();
    }

    /** Before the first process that needs it: the databases exist by then, and Kafka does. */
    private synchronized void prepare(Part part) {
        try {
            boolean isReceiver = part == Part.RECEIVER_1 || part == Part.RECEIVER_2;
            boolean isOfOutbox = part == Part.RELAY_1 || part == Part.RELAY_2 || part == Part.PRODUCER;
            if (isReceiver && !hasInboxRoles) {
                roles.createOfInbox();
                SeriesTables.createApplied(postgres());
                TopicCreatedAnew.createFirst(landscape.bootstrapServers());
                hasInboxRoles = true;
            } else if (isOfOutbox && !hasOutboxRoles) {
                roles.createOfOutbox();
                SeriesTables.createWritten(postgres());
                hasOutboxRoles = true;
            }
        } catch (SQLException e) {
            throw new IllegalStateException("Cannot prepare the databases for " + part, e);
        }
    }

    private void addCustomers() throws SQLException {
        try (Connection connection = landscape.postgres().connect(Landscape.ORDERS_DATABASE);
                Statement statement = connection.createStatement()) {
            statement.execute("insert into customer (id) select generate_series(" + FIRST_CUSTOMER_OF_LONG_TRANSACTIONS
                    + ", " + CUSTOMERS + ")");
            statement.execute("create sequence soak_order");
        }
    }

    /** Starts the process of a target unless it runs, and returns when it can be used. */
    void bringUp(Target target) {
        bringUp(part(target));
    }

    /**
     * As an orchestrator would, it replaces a server that does not become healthy: the services create their tables at
     * deployment, which fails while the database is away. On a busy machine Kafka and PostgreSQL may need a second attempt.
     */
    private void bringUp(Part part) {
        ChildProcess process = landscape.process(part);
        boolean isServer = process instanceof PayaraMicro;
        long deadline = System.nanoTime() + BACK_LIMIT.toNanos();
        if (process instanceof RelayProcess) {
            bringUpRelay(part, deadline);
            return;
        }
        while (true) {
            try {
                landscape.startAndAwait(part, isServer ? DEPLOYMENT_LIMIT : BACK_LIMIT);
                return;
            } catch (ChildProcessException e) {
                if (System.nanoTime() > deadline) {
                    throw e;
                }
                if (isServer) {
                    process.kill();
                    replaced.incrementAndGet();
                }
            }
        }
    }

    /**
     * A relay has to start at the first attempt, whatever is broken. It may refuse only because its role lacks a right
     * or rows are hidden from it.
     */
    private void bringUpRelay(Part part, long deadline) {
        while (true) {
            long begun = System.nanoTime();
            try {
                landscape.startAndAwait(part, BACK_LIMIT);
                return;
            } catch (ChildProcessException e) {
                boolean isRefused = !landscape.process(part).isAlive() && roles.wereBrokenSince(begun);
                if (!isRefused || System.nanoTime() > deadline) {
                    throw e;
                }
                refused.incrementAndGet();
            }
        }
    }

    /**
     * Deploys the application again. If that fails because its database is away, the server is killed, to be started again.
     */
    void redeploy(Target target) {
        PayaraMicro server = landscape.server(part(target));
        try {
            server.redeploy();
        } catch (ChildProcessException e) {
            server.kill();
            replaced.incrementAndGet();
        }
    }

    /** At the end of a run a receiver has the second version: the events that only it handles must not wait for ever. */
    void finishRollout() {
        if (!versions.hasSecond()) {
            versions.exchange(Part.RECEIVER_2);
            redeploy(Target.RECEIVER_2);
        }
    }

    /** How often a server was started again because its application was not deployed. */
    int replaced() {
        return replaced.get();
    }

    /** How often a relay refused to start because of its role. */
    int refused() {
        return refused.get();
    }

    /** The roles of the processes. */
    Roles roles() {
        return roles;
    }

    /** The versions of the receivers' application. */
    Versions versions() {
        return versions;
    }

    /** Where the processes that have a role say whether they are ready. */
    List<URI> readiness(Target table) {
        return table.name().startsWith("OUTBOX")
                ? List.of(relayReadiness(Part.RELAY_1), relayReadiness(Part.RELAY_2))
                : List.of(
                        landscape.server(Part.RECEIVER_1).uri(READINESS),
                        landscape.server(Part.RECEIVER_2).uri(READINESS));
    }

    private URI relayReadiness(Part relay) {
        return ((RelayProcess) landscape.process(relay)).uri(READINESS);
    }

    /** The partitions of the topic. */
    TopicPartitions partitions() {
        return new TopicPartitions(landscape.bootstrapServers());
    }

    /** The process of a target. */
    ChildProcess process(Target target) {
        return landscape.process(part(target));
    }

    static Part part(Target target) {
        return Part.valueOf(target.name());
    }

    /** The proxies of a target. */
    List<TcpProxy> proxies(Target target) {
        return Objects.requireNonNull(links.get(target), target + " is no connection");
    }

    /** Processes that do not run. */
    List<Target> ended() {
        return landscape.parts().stream()
                .filter(part -> !landscape.process(part).isAlive())
                .map(part -> Target.valueOf(part.name()))
                .toList();
    }

    /** Ends every fault that may still last, and returns when everything can be used. */
    void heal() {
        links.values().forEach(proxies -> proxies.forEach(TcpProxy::heal));
        landscape.parts().forEach(part -> landscape.process(part).resume());
        bringUp(Part.POSTGRES);
        try {
            CompletableFuture.allOf(landscape.parts().stream()
                            .map(part -> CompletableFuture.runAsync(
                                    () -> bringUp(part), task -> new Thread(task, "heal").start()))
                            .toArray(CompletableFuture<?>[]::new))
                    .join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    /** All processes, broken or not. */
    Landscape landscape() {
        return landscape;
    }

    PostgresServer postgres() {
        return landscape.postgres();
    }

    /** The address of the orders service's resource. */
    URI orders() {
        return landscape.server(Part.PRODUCER).uri(Landscape.ORDERS_PATH);
    }

    /** Ends all processes and proxies. */
    @Override
    public void close() {
        landscape.close();
        links.values().forEach(proxies -> proxies.forEach(TcpProxy::close));
    }
}
