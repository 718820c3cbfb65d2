package dev.twinbox.proof.landscape;

import dev.twinbox.fixtures.ApplicationServer;
import dev.twinbox.fixtures.ChildProcess;
import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.PayaraMicro;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.proof.appserver.ApplicationDatabase;
import dev.twinbox.proof.appserver.Product;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** All processes of the sample: PostgreSQL, Kafka, relays, and the two services, each with its own database. */
public final class Landscape implements AutoCloseable {

    public static final String ORDERS_DATABASE = "orders";
    public static final String SHIPPING_DATABASE = "shipping";
    public static final String TOPIC = "orders";

    /** The address of the orders service's resource. */
    public static final String ORDERS_PATH = "/orders/api/orders";

    /** The address of the shipping service's resource. */
    public static final String SHIPMENTS_PATH = "/shipping/api/shipments";

    private final Plan plan;
    private final Servers servers;
    private final Map<Part, ChildProcess> processes = new EnumMap<>(Part.class);
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "landscape");
        thread.setDaemon(true);
        return thread;
    });

    /** Prepares all processes and starts none. */
    public Landscape(Installation installation, Plan plan) {
        this.plan = plan;
        servers = Servers.of(installation, plan.spares().brokers());
        addServers();
        for (Part part : Part.values()) {
            if (part.isRelay() && plan.spares().has(part)) {
                processes.put(part, relay(part));
            } else if (part.isReceiver() && plan.spares().has(part)) {
                processes.put(part, receiver(part));
            }
        }
        processes.put(Part.PRODUCER, producer());
    }

    private void addServers() {
        processes.put(Part.POSTGRES, servers.postgres().withPort(plan.port(Part.POSTGRES)));
        List<Part> parts = List.of(Part.BROKER_1, Part.BROKER_2, Part.BROKER_3);
        for (int i = 0; i < servers.brokers().size(); i++) {
            KafkaBroker broker = servers.brokers().get(i).withJvmOptions(Servers.QUICK_START);
            processes.put(parts.get(i), broker);
        }
        if (plan.spares() == Spares.NONE) {
            servers.kafka().withPort(plan.port(Part.BROKER_1));
        }
    }

    private RelayProcess relay(Part part) {
        return servers.relay(plan.routes().apply(servers, part), ORDERS_DATABASE)
                .jvmOptions("-Xmx256m", "-XX:+UseSerialGC", Servers.QUICK_START)
                .config(configurationOfRelays())
                .config("twinbox.relay.http.port", Integer.toString(plan.port(part)))
                .build();
    }

    private ChildProcess producer() {
        return service(Part.PRODUCER, BuiltFile.ORDERS, ORDERS_DATABASE, key -> !key.startsWith("twinbox."));
    }

    private ChildProcess receiver(Part part) {
        return service(part, BuiltFile.SHIPPING, SHIPPING_DATABASE, key -> !key.startsWith("twinbox.relay."));
    }

    private ChildProcess service(Part part, BuiltFile file, String database, Predicate<String> wanted) {
        Route route = plan.routes().apply(servers, part);
        Map<String, String> configuration = new HashMap<>(plan.configuration());
        configuration.keySet().removeIf(wanted.negate());
        if (part.isReceiver()) {
            configuration.put("twinbox.inbox.kafka.bootstrap.servers", route.bootstrapServers());
        }
        String user = configuration.getOrDefault(
                database + ".database.user", postgres().user());
        ApplicationDatabase dataSource = servers.applicationDatabase(route, database, user);
        // Another file for a receiver has the same name, so it takes the place of the sample's.
        Path war = plan.wars().getOrDefault(part, servers.installation().file(file));
        return plan.product() == null
                ? onPayara(part, war, dataSource, configuration)
                : onProduct(plan.product(), part, war, dataSource, configuration);
    }

    private ApplicationServer onProduct(
            Product product, Part part, Path war, ApplicationDatabase dataSource, Map<String, String> configuration) {
        ApplicationServer server =
                product.server(dataSource).onPort(plan.port(part)).withApplication(war);
        configuration.forEach(server::withConfiguration);
        return server;
    }

    private PayaraMicro onPayara(
            Part part, Path war, ApplicationDatabase dataSource, Map<String, String> configuration) {
        PayaraMicro.Builder builder =
                servers.service(war, dataSource).port(plan.port(part)).jvmOptions(Servers.QUICK_START);
        if (plan.spares() == Spares.ALL) {
            builder.redeployable();
        }
        configuration.forEach(builder::systemProperty);
        return builder.build();
    }

    private Map<String, String> configurationOfRelays() {
        Map<String, String> wanted = new HashMap<>(plan.configuration());
        wanted.keySet()
                .removeIf(key -> key.startsWith("twinbox.inbox.")
                        || key.startsWith(ORDERS_DATABASE + ".")
                        || key.startsWith(SHIPPING_DATABASE + "."));
        return wanted;
    }

    /**
     * Starts everything, in parallel where one part does not need the other. Returns when all of it can be used.
     *
     * @param starter starts one process and returns when it can be used
     * @throws IllegalStateException with the first failure, if a part cannot be started
     */
    public void start(StartProgress progress, Consumer<Part> starter) {
        StartProgress.Step postgresStep = progress.announce("PostgreSQL");
        StartProgress.Step kafkaStep = progress.announce("Kafka");
        StartProgress.Step outboxStep = progress.announce("Database orders, with the outbox (relay: migrate)");
        StartProgress.Step inboxStep = progress.announce("Database shipping, with the inbox (inbox: migrate)");
        StartProgress.Step topicStep = progress.announce("Topic orders");

        CompletableFuture<Void> postgres = begin(() -> postgresStep.run(() -> starter.accept(Part.POSTGRES)));
        CompletableFuture<Void> kafka = begin(() -> kafkaStep.run(() -> startBrokers(starter)));
        CompletableFuture<Void> outbox =
                after(postgres, () -> outboxStep.run(() -> servers.createOutbox(ORDERS_DATABASE, plan.outbox())));
        CompletableFuture<Void> inbox =
                after(postgres, () -> inboxStep.run(() -> servers.createInbox(SHIPPING_DATABASE)));
        CompletableFuture<Void> topic =
                after(kafka, () -> topicStep.run(() -> servers.createTopic(TOPIC, plan.partitions())));

        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (Part part : processes.keySet()) {
            if (part.isRelay()) {
                ends.add(after(both(outbox, topic), step(progress, part, "Relay", starter)));
            } else if (part == Part.PRODUCER) {
                ends.add(after(outbox, step(progress, part, "Orders service on " + productTitle(), starter)));
            } else if (part.isReceiver()) {
                ends.add(after(
                        both(inbox, topic), step(progress, part, "Shipping service on " + productTitle(), starter)));
            }
        }
        awaitAll(ends);
    }

    private void startBrokers(Consumer<Part> starter) {
        // In parallel: one broker alone waits for a majority of the controllers.
        awaitAll(processes.keySet().stream()
                .filter(Part::isBroker)
                .map(part -> begin(() -> starter.accept(part)))
                .toList());
    }

    private String productTitle() {
        return plan.product() == null ? "Payara Micro" : plan.product().title();
    }

    private static Runnable step(StartProgress progress, Part part, String title, Consumer<Part> starter) {
        StartProgress.Step step = progress.announce(part.isSpare() ? title + ", spare" : title);
        return () -> step.run(() -> starter.accept(part));
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

    /** The first failure ends the wait: the rest cannot make up for it. */
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

    /** Starts one process unless it runs, and returns when it can be used. */
    public void startAndAwait(Part part, Duration limit) {
        ChildProcess process = process(part).start();
        if (process instanceof RelayProcess relay) {
            relay.awaitReady(limit);
        } else if (process instanceof PayaraMicro server) {
            server.awaitHttp(path(part), limit);
        } else if (process instanceof ApplicationServer server) {
            server.awaitHttp(path(part), limit);
        }
    }

    private static String path(Part part) {
        return part == Part.PRODUCER ? ORDERS_PATH : SHIPMENTS_PATH;
    }

    /** The address of a service's resource. */
    public URI uri(Part part) {
        return process(part) instanceof ApplicationServer server
                ? server.uri(path(part))
                : server(part).uri(path(part));
    }

    /** Which parts there are. */
    public Set<Part> parts() {
        return Collections.unmodifiableSet(processes.keySet());
    }

    /** The process of a part that there is. */
    public ChildProcess process(Part part) {
        return Objects.requireNonNull(processes.get(part), () -> "This landscape has no " + part);
    }

    /** The server of an application, in a landscape on Payara Micro 6. */
    public PayaraMicro server(Part part) {
        return (PayaraMicro) process(part);
    }

    /** PostgreSQL and Kafka. */
    public Servers servers() {
        return servers;
    }

    /** The database server. */
    public PostgresServer postgres() {
        return servers.postgres();
    }

    /** {@code bootstrap.servers} of clients that use no proxy. */
    public String bootstrapServers() {
        return servers.bootstrapServers();
    }

    /** Ends all processes. */
    @Override
    public void close() {
        // Clients before their servers, so that no log ends in complaints.
        processes.forEach((part, process) -> {
            if (!part.isBroker() && part != Part.POSTGRES) {
                process.close();
            }
        });
        servers.close();
        threads.shutdownNow();
    }
}
