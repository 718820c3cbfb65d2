package dev.twinbox.sample.demo;

import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.PayaraMicro;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.sample.demo.DemoSettings.Use;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;

/** All processes of the sample: PostgreSQL, Kafka, the relay and the two services, each with its own database. */
final class Landscape implements AutoCloseable {

    static final String ORDERS_DATABASE = "orders";
    static final String SHIPPING_DATABASE = "shipping";
    static final String TOPIC = "orders";

    private static final int PARTITIONS = 8;

    /** A server takes seconds; on a machine that has other things to do, minutes. */
    private static final Duration START_LIMIT = Duration.ofMinutes(5);

    private static final String QUICK_START = "-XX:TieredStopAtLevel=1";

    private final Installation installation;
    private final Map<String, String> telemetry;
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "landscape");
        thread.setDaemon(true);
        return thread;
    });

    private final PostgresServer postgres;
    private final KafkaBroker kafka;
    private final PayaraMicro ordersServer;
    private final PayaraMicro shippingServer;

    private final Server postgresProcess;
    private final Server kafkaProcess;
    private final Server relayProcess;
    private final Server ordersProcess;
    private final Server shippingProcess;

    Landscape(Installation installation, DemoSettings settings, Journal journal) {
        this(installation, settings, journal, Map.of());
    }

    /** @param telemetry settings of OpenTelemetry for the relay and the services, by their standard names */
    Landscape(Installation installation, DemoSettings settings, Journal journal, Map<String, String> telemetry) {
        this.installation = installation;
        this.telemetry = Map.copyOf(telemetry);
        postgres = PostgresServer.create().withPort(settings.port(Use.POSTGRES));
        // First-tier compilation everywhere: seconds of start matter more here than the last tenth of speed.
        kafka = KafkaBroker.create().withPort(settings.port(Use.KAFKA)).withJvmOptions(QUICK_START);
        RelayProcess relay = RelayProcess.builder(installation.relay())
                .jvmOptions("-Xmx256m", "-XX:+UseSerialGC", QUICK_START)
                .config(relayConfiguration())
                .config(telemetry)
                .config("twinbox.relay.http.port", String.valueOf(settings.port(Use.RELAY)))
                .build();
        ordersServer = payara(settings.port(Use.ORDERS), ORDERS_DATABASE)
                .war(installation.orders())
                .build();
        shippingServer = payara(settings.port(Use.SHIPPING), SHIPPING_DATABASE)
                .war(installation.shipping())
                .systemProperty("twinbox.inbox.kafka.bootstrap.servers", kafka.bootstrapServers())
                .build();
        postgresProcess = new Server("PostgreSQL", postgres, () -> {}, journal, threads);
        kafkaProcess = new Server("Kafka", kafka, () -> {}, journal, threads);
        relayProcess = new Server("Relay", relay, () -> relay.awaitReady(START_LIMIT), journal, threads);
        ordersProcess = new Server(
                "Orders",
                ordersServer,
                () -> ordersServer.awaitHttp("/orders/api/orders", START_LIMIT),
                journal,
                threads);
        shippingProcess = new Server(
                "Shipping",
                shippingServer,
                () -> shippingServer.awaitHttp("/shipping/api/shipments", START_LIMIT),
                journal,
                threads);
    }

    private PayaraMicro.Builder payara(int port, String database) {
        PayaraMicro.Builder builder = PayaraMicro.builder(installation.payara())
                .port(port)
                .jvmOptions(QUICK_START)
                .systemProperty(database + ".database.url", postgres.jdbcUrl(database))
                .systemProperty(database + ".database.user", postgres.user())
                .env(environmentName(database + ".database.password"), postgres.password());
        telemetry.forEach(builder::systemProperty);
        return builder;
    }

    private Map<String, String> relayConfiguration() {
        return Map.of(
                "twinbox.relay.database.url", postgres.jdbcUrl(ORDERS_DATABASE),
                "twinbox.relay.database.user", postgres.user(),
                "twinbox.relay.database.password", postgres.password(),
                "twinbox.relay.kafka.bootstrap.servers", kafka.bootstrapServers());
    }

    /** MicroProfile Config's name of a key in the environment. */
    private static String environmentName(String key) {
        return key.replaceAll("[^A-Za-z0-9]", "_").toUpperCase(Locale.ROOT);
    }

    /**
     * Starts everything, side by side where one does not need the other, and returns when all of it is of use.
     *
     * @throws IllegalStateException what failed first, with the end of its log
     */
    void start(StartProgress progress) {
        StartProgress.Step postgresStep = progress.announce("PostgreSQL");
        StartProgress.Step kafkaStep = progress.announce("Kafka");
        StartProgress.Step outboxStep =
                progress.announce("Database orders, with the outbox (outbox-relay.jar migrate)");
        StartProgress.Step inboxStep =
                progress.announce("Database shipping, with the inbox (twinbox-inbox-cli.jar migrate)");
        StartProgress.Step topicStep = progress.announce("Topic orders");
        StartProgress.Step relayStep = progress.announce("Relay");
        StartProgress.Step ordersStep = progress.announce("Orders service on Payara Micro");
        StartProgress.Step shippingStep = progress.announce("Shipping service on Payara Micro");

        CompletableFuture<Void> postgresUp = begin(() -> postgresStep.run(postgresProcess::start));
        CompletableFuture<Void> kafkaUp = begin(() -> kafkaStep.run(kafkaProcess::start));
        CompletableFuture<Void> outbox = after(postgresUp, () -> outboxStep.run(this::createOutbox));
        CompletableFuture<Void> inbox = after(postgresUp, () -> inboxStep.run(this::createInbox));
        CompletableFuture<Void> topic = after(kafkaUp, () -> topicStep.run(() -> kafka.createTopic(TOPIC, PARTITIONS)));
        CompletableFuture<Void> relay = after(both(outbox, topic), () -> relayStep.run(relayProcess::start));
        CompletableFuture<Void> orders = after(outbox, () -> ordersStep.run(ordersProcess::start));
        CompletableFuture<Void> shipping = after(both(inbox, topic), () -> shippingStep.run(shippingProcess::start));
        awaitAll(List.of(relay, orders, shipping));
    }

    private CompletableFuture<Void> begin(Runnable step) {
        return CompletableFuture.runAsync(step, threads);
    }

    private CompletableFuture<Void> after(CompletableFuture<Void> first, Runnable step) {
        return first.thenRunAsync(step, threads);
    }

    private static CompletableFuture<Void> both(CompletableFuture<Void> one, CompletableFuture<Void> other) {
        return CompletableFuture.allOf(one, other);
    }

    /** The first failure ends the wait: nobody should wait for a server that can be of no use. */
    private static void awaitAll(List<CompletableFuture<Void>> ends) {
        CompletableFuture<Void> all = CompletableFuture.allOf(ends.toArray(CompletableFuture<?>[]::new));
        for (CompletableFuture<Void> end : ends) {
            CompletableFuture<Void> unused = end.whenComplete((nothing, error) -> {
                if (error != null) {
                    all.completeExceptionally(error);
                }
            });
        }
        try {
            all.join();
        } catch (CompletionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IllegalStateException(cause.getMessage(), cause);
        }
    }

    private void createOutbox() {
        createDatabase(ORDERS_DATABASE);
        Map<String, String> environment = relayConfiguration().entrySet().stream()
                .collect(Collectors.toMap(entry -> environmentName(entry.getKey()), Map.Entry::getValue));
        Command.run(installation.relay(), environment, "migrate");
    }

    private void createInbox() {
        createDatabase(SHIPPING_DATABASE);
        Command.run(
                installation.inboxCli(),
                Map.of("TWINBOX_INBOX_DATABASE_PASSWORD", postgres.password()),
                "migrate",
                "--url",
                postgres.jdbcUrl(SHIPPING_DATABASE),
                "--user",
                postgres.user());
    }

    private void createDatabase(String name) {
        try {
            postgres.createDatabase(name);
        } catch (SQLException e) {
            throw new IllegalStateException("Cannot create the database " + name, e);
        }
    }

    PostgresServer postgres() {
        return postgres;
    }

    KafkaBroker kafka() {
        return kafka;
    }

    PayaraMicro ordersServer() {
        return ordersServer;
    }

    PayaraMicro shippingServer() {
        return shippingServer;
    }

    Server postgresProcess() {
        return postgresProcess;
    }

    Server kafkaProcess() {
        return kafkaProcess;
    }

    Server relayProcess() {
        return relayProcess;
    }

    Server shippingProcess() {
        return shippingProcess;
    }

    /** The processes by the names that the page uses. */
    Map<String, Server> processes() {
        return Map.of(
                "postgres", postgresProcess,
                "kafka", kafkaProcess,
                "relay", relayProcess,
                "orders", ordersProcess,
                "shipping", shippingProcess);
    }

    /** Ends all processes. */
    @Override
    public void close() {
        // Clients before what they are clients of: nobody's log ends in complaints.
        List<Server> servers = List.of(shippingProcess, ordersProcess, relayProcess, kafkaProcess, postgresProcess);
        servers.forEach(Server::letGo);
        servers.forEach(Server::close);
        threads.shutdownNow();
    }
}
