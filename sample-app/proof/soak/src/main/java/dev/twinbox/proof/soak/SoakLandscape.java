package dev.twinbox.proof.soak;

import dev.twinbox.fixtures.ChildProcess;
import dev.twinbox.fixtures.ChildProcessException;
import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.KafkaCluster;
import dev.twinbox.fixtures.PayaraMicro;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.fixtures.TcpProxy;
import dev.twinbox.proof.landscape.Command;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.soak.Fault.Target;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewPartitions;

/**
 * The sample with a spare of everything that has one: three brokers, two relays of one name, two receivers of one group, one
 * producer, one database server. Every connection of ours to a server passes a proxy.
 */
final class SoakLandscape implements AutoCloseable {

    static final String ORDERS = "orders";
    static final String SHIPPING = "shipping";
    static final String TOPIC = "orders";

    /** The orders service has customers 1 to 1000; those beyond are for transactions that it has no request for. */
    static final long CUSTOMERS = 1_010;

    static final long FIRST_CUSTOMER_OF_LONG_TRANSACTIONS = 1_001;

    private static final int PARTITIONS = 6;
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(30);

    /** Nothing needs longer to be of use again, also on a machine with other things to do and while something else is broken. */
    private static final Duration BACK_LIMIT = Duration.ofMinutes(25);

    /** A server that has not deployed its application by then hangs in a connection that was broken. */
    private static final Duration DEPLOYMENT_LIMIT = Duration.ofMinutes(15);

    private static final String QUICK_START = "-XX:TieredStopAtLevel=1";
    /** How late clients hear of partitions that were added. Kafka's five minutes would be most of a run. */
    private static final String METADATA_AGE_MS = "20000";

    private final Installation installation;
    private final PostgresServer postgres;
    private final KafkaCluster kafka;
    private final Map<Target, ChildProcess> processes = new EnumMap<>(Target.class);
    private final Map<Target, List<TcpProxy>> links = new EnumMap<>(Target.class);
    private final AtomicInteger replaced = new AtomicInteger();

    SoakLandscape(Installation installation) {
        this.installation = installation;
        postgres = PostgresServer.create().withSetting("max_wal_size", "4GB");
        kafka = KafkaCluster.of(3);
        kafka.brokers()
                .forEach(broker -> broker.withJvmOptions(QUICK_START)
                        .withSetting("min.insync.replicas", "2")
                        // A broker that is back leads again soon, so that its next end is a change of leaders, too.
                        .withSetting("leader.imbalance.check.interval.seconds", "15"));
        for (Target target : Target.values()) {
            addLink(target);
        }
        processes.put(Target.POSTGRES, postgres);
        processes.put(Target.BROKER_1, kafka.broker(1));
        processes.put(Target.BROKER_2, kafka.broker(2));
        processes.put(Target.BROKER_3, kafka.broker(3));
        processes.put(Target.RELAY_1, relay(Target.RELAY_1_TO_POSTGRES, Target.RELAY_1_TO_KAFKA));
        processes.put(Target.RELAY_2, relay(Target.RELAY_2_TO_POSTGRES, Target.RELAY_2_TO_KAFKA));
        processes.put(Target.PRODUCER, producer());
        processes.put(Target.RECEIVER_1, receiver(Target.RECEIVER_1_TO_POSTGRES));
        processes.put(Target.RECEIVER_2, receiver(Target.RECEIVER_2_TO_POSTGRES));
    }

    private void addLink(Target target) {
        if (target.name().endsWith("_TO_POSTGRES")) {
            links.put(target, List.of(TcpProxy.to("127.0.0.1", postgres.port())));
        } else if (target.name().endsWith("_TO_KAFKA")) {
            links.put(target, kafka.brokers().stream().map(KafkaBroker::proxy).toList());
        }
    }

    private String bootstrapServers(Target link) {
        List<TcpProxy> proxies = proxies(link);
        return IntStream.range(0, proxies.size())
                .mapToObj(i -> kafka.brokers().get(i).bootstrapServers(proxies.get(i)))
                .collect(Collectors.joining(","));
    }

    private String url(String database, Target link) {
        return postgres.jdbcUrl(database, proxies(link).get(0));
    }

    private RelayProcess relay(Target toPostgres, Target toKafka) {
        return RelayProcess.builder(installation.relay())
                .jvmOptions("-Xmx256m", "-XX:+UseSerialGC", QUICK_START)
                .config(relayConfiguration(url(ORDERS, toPostgres), bootstrapServers(toKafka)))
                .build();
    }

    private Map<String, String> relayConfiguration(String url, String bootstrapServers) {
        return Map.of(
                "twinbox.relay.database.url", url,
                "twinbox.relay.database.user", postgres.user(),
                "twinbox.relay.database.password", postgres.password(),
                "twinbox.relay.kafka.bootstrap.servers", bootstrapServers,
                "twinbox.relay.kafka.metadata.max.age.ms", METADATA_AGE_MS);
    }

    private PayaraMicro producer() {
        return payara(ORDERS, Target.PRODUCER_TO_POSTGRES)
                .war(installation.orders())
                .build();
    }

    private PayaraMicro receiver(Target toPostgres) {
        return payara(SHIPPING, toPostgres)
                .war(installation.shipping())
                .systemProperty("twinbox.inbox.kafka.bootstrap.servers", bootstrapServers(Target.RECEIVERS_TO_KAFKA))
                .systemProperty("twinbox.inbox.kafka.metadata.max.age.ms", METADATA_AGE_MS)
                .build();
    }

    private PayaraMicro.Builder payara(String database, Target toPostgres) {
        return PayaraMicro.builder(installation.payara())
                .redeployable()
                .jvmOptions(QUICK_START)
                .systemProperty(database + ".database.url", url(database, toPostgres))
                .systemProperty(database + ".database.user", postgres.user())
                .env(database.toUpperCase(java.util.Locale.ROOT) + "_DATABASE_PASSWORD", postgres.password());
    }

    /** Starts everything; returns when all of it is of use. */
    void start() throws SQLException {
        atOnce(List.of(postgres::start, kafka::start));
        postgres.createDatabase(ORDERS);
        postgres.createDatabase(SHIPPING);
        kafka.createTopic(
                TOPIC,
                IntStream.range(0, PARTITIONS)
                        .mapToObj(partition -> IntStream.range(0, 3)
                                .mapToObj(replica -> 1 + (partition + replica) % 3)
                                .toList())
                        .toList());
        atOnce(List.of(this::createOutbox, this::createInbox));
        atOnce(List.of(
                () -> bringUp(Target.RELAY_1),
                () -> bringUp(Target.RELAY_2),
                () -> bringUp(Target.PRODUCER),
                () -> bringUp(Target.RECEIVER_1),
                () -> bringUp(Target.RECEIVER_2)));
        addCustomers();
    }

    private static void atOnce(List<Runnable> steps) {
        try {
            CompletableFuture.allOf(steps.stream()
                            .map(step -> CompletableFuture.runAsync(step, task -> new Thread(task, "start").start()))
                            .toArray(CompletableFuture<?>[]::new))
                    .join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    /** A slot a minute: the table is emptied behind the relay again and again while all this happens. */
    private void createOutbox() {
        try (RelayProcess migrate = RelayProcess.builder(installation.relay())
                .config(relayConfiguration(postgres.jdbcUrl(ORDERS), kafka.bootstrapServers()))
                .config("twinbox.relay.retention", "PT1M")
                .arguments("migrate")
                .build()
                .start()) {
            int exitCode = migrate.awaitExit(BACK_LIMIT);
            if (exitCode != 0) {
                throw new IllegalStateException("The relay's migrate ended with " + exitCode + ":\n" + migrate.log());
            }
        }
    }

    private void createInbox() {
        Command.run(
                installation.inboxCli(),
                Map.of("TWINBOX_INBOX_DATABASE_PASSWORD", postgres.password()),
                "migrate",
                "--url",
                postgres.jdbcUrl(SHIPPING),
                "--user",
                postgres.user());
    }

    private void addCustomers() throws SQLException {
        try (Connection connection = postgres.connect(ORDERS);
                Statement statement = connection.createStatement()) {
            statement.execute("insert into customer (id) select generate_series(" + FIRST_CUSTOMER_OF_LONG_TRANSACTIONS
                    + ", " + CUSTOMERS + ")");
            statement.execute("create sequence soak_order");
        }
    }

    /** Starts the process unless it runs, and returns when it is of use. */
    void bringUp(Target target) {
        ChildProcess process = process(target);
        if (process instanceof PayaraMicro server) {
            bringUp(server, target == Target.PRODUCER ? "/orders/api/orders" : "/shipping/api/shipments");
        } else if (process instanceof RelayProcess relay) {
            relay.start();
            relay.awaitReady(BACK_LIMIT);
        } else {
            bringUp(process);
        }
    }

    /** Kafka and PostgreSQL are not what is tested: on a machine with other things to do a start may need a second attempt. */
    private static void bringUp(ChildProcess server) {
        long deadline = System.nanoTime() + BACK_LIMIT.toNanos();
        while (true) {
            try {
                server.start();
                return;
            } catch (ChildProcessException e) {
                if (System.nanoTime() > deadline) {
                    throw e;
                }
            }
        }
    }

    /**
     * As an orchestrator would: a server that does not become healthy is replaced. Hibernate cannot be deployed while its database is
     * away, Twinbox can.
     */
    private void bringUp(PayaraMicro server, String path) {
        long deadline = System.nanoTime() + BACK_LIMIT.toNanos();
        while (true) {
            try {
                server.start();
                server.awaitHttp(path, DEPLOYMENT_LIMIT);
                return;
            } catch (ChildProcessException e) {
                if (System.nanoTime() > deadline) {
                    throw e;
                }
                server.kill();
                replaced.incrementAndGet();
            }
        }
    }

    /** Exchanges the application; if that does not work, for its database is away, the server goes, and {@link #bringUp} starts another. */
    void redeploy(Target target) {
        PayaraMicro server = (PayaraMicro) process(target);
        try {
            server.redeploy();
        } catch (ChildProcessException e) {
            server.kill();
            replaced.incrementAndGet();
        }
    }

    /** How often a server was started again because its application was not deployed. */
    int replaced() {
        return replaced.get();
    }

    /** Adds a partition to the topic; Kafka may have to elect somebody first, so it may take several attempts. */
    void addPartition() {
        long deadline = System.nanoTime() + BACK_LIMIT.toNanos();
        int wanted = partitions(deadline) + 1;
        while (!addedUpTo(wanted, deadline)) {
            requireBefore(deadline, "add a partition");
        }
    }

    private boolean addedUpTo(int wanted, long deadline) {
        try (Admin admin = admin()) {
            admin.createPartitions(Map.of(TOPIC, NewPartitions.increaseTo(wanted)))
                    .all()
                    .get(ANSWER_LIMIT.toSeconds(), TimeUnit.SECONDS);
            return true;
        } catch (ExecutionException | TimeoutException e) {
            // Told or not, it may have happened.
            return partitions(deadline) == wanted;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while adding a partition", e);
        }
    }

    private int partitions(long deadline) {
        while (true) {
            try (Admin admin = admin()) {
                return Objects.requireNonNull(admin.describeTopics(Set.of(TOPIC))
                                .allTopicNames()
                                .get(ANSWER_LIMIT.toSeconds(), TimeUnit.SECONDS)
                                .get(TOPIC))
                        .partitions()
                        .size();
            } catch (ExecutionException | TimeoutException e) {
                requireBefore(deadline, "describe the topic");
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted while describing the topic", e);
            }
        }
    }

    /** How many partitions the topic has now. */
    int partitions() {
        return partitions(System.nanoTime() + BACK_LIMIT.toNanos());
    }

    private static void requireBefore(long deadline, String what) {
        if (System.nanoTime() > deadline) {
            throw new IllegalStateException("Kafka did not " + what + " within " + BACK_LIMIT);
        }
    }

    private Admin admin() {
        Map<String, Object> settings = new HashMap<>();
        settings.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, kafka.bootstrapServers());
        settings.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, (int) ANSWER_LIMIT.toMillis());
        return Admin.create(settings);
    }

    /** The process behind a target. */
    ChildProcess process(Target target) {
        return Objects.requireNonNull(processes.get(target), target + " is no process");
    }

    /** The proxies behind a target. */
    List<TcpProxy> proxies(Target target) {
        return Objects.requireNonNull(links.get(target), target + " is no connection");
    }

    /** Processes that do not run. */
    List<Target> ended() {
        List<Target> ended = new ArrayList<>();
        processes.forEach((target, process) -> {
            if (!process.isAlive()) {
                ended.add(target);
            }
        });
        return ended;
    }

    /** Ends every fault that may still last, and returns when all is of use. */
    void heal() {
        links.values().forEach(proxies -> proxies.forEach(TcpProxy::heal));
        processes.values().forEach(ChildProcess::resume);
        bringUp(Target.POSTGRES);
        atOnce(processes.keySet().stream()
                .<Runnable>map(target -> () -> bringUp(target))
                .toList());
    }

    PostgresServer postgres() {
        return postgres;
    }

    /** Of clients that pass no proxy. */
    String bootstrapServers() {
        return kafka.bootstrapServers();
    }

    /** The address of the orders service's resource. */
    URI orders() {
        return ((PayaraMicro) process(Target.PRODUCER)).uri("/orders/api/orders");
    }

    /** Ends all processes, clients before what they are clients of. */
    @Override
    public void close() {
        List.of(Target.RECEIVER_1, Target.RECEIVER_2, Target.PRODUCER, Target.RELAY_1, Target.RELAY_2)
                .forEach(target -> process(target).close());
        links.values().forEach(proxies -> proxies.forEach(TcpProxy::close));
        kafka.close();
        postgres.close();
    }
}
