package dev.twinbox.proof.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.twinbox.fixtures.ApplicationServer;
import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.SharedServers;
import dev.twinbox.fixtures.TcpProxy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What Twinbox must do on each server. The application is the same; all is seen from outside, by HTTP, SQL and Kafka. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith(CompatibilityPage.class)
abstract class ServerChecks {

    private static final String APP = "twinbox-app";
    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final int THREADS = 8;
    private static final int TRANSACTIONS_PER_THREAD = 50;
    private static final int REDEPLOYMENTS = Integer.getInteger("servers.redeployments", 10);
    private static final int LAST = Integer.MAX_VALUE;

    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private final String title;
    private final String name;
    private final String dataSource;
    private final String otherDataSource;
    private final String way;

    private TcpProxy proxy;
    private KafkaBroker kafka;
    private Tables tables;
    private Orders orders;
    private ApplicationServer server;
    private Path war;
    private String about = "did not start";

    /**
     * Starts nothing yet.
     *
     * @param title product and version
     * @param name of the database, and of the group of consumers
     * @param dataSource its JNDI name
     * @param otherDataSource JNDI name of a second, XA data source of the same database
     * @param way on which the outbox writes, as its log says
     */
    ServerChecks(String title, String name, String dataSource, String otherDataSource, String way) {
        this.title = title;
        this.name = name;
        this.dataSource = dataSource;
        this.otherDataSource = otherDataSource;
        this.way = way;
    }

    abstract ApplicationServer server(ApplicationDatabase database);

    @BeforeAll
    void deploy() throws IOException {
        PostgresServer postgres = SharedServers.postgres();
        tables = new Tables(postgres, name);
        kafka = KafkaBroker.create().withJvmOptions("-XX:TieredStopAtLevel=1").start();
        List.of("orders", "tenants", "single", "failing", "replies", "slow", "signals")
                .forEach(topic -> kafka.createTopic(topic, 1));
        orders = new Orders(kafka.bootstrapServers());
        war = war(APP, name, "");
        proxy = TcpProxy.to("127.0.0.1", postgres.port());
        server = server(new ApplicationDatabase(
                proxy.port(),
                name,
                postgres.user(),
                postgres.password(),
                WarFile.location(org.postgresql.Driver.class)));
        server.start();
        server.deploy(war);
        server.awaitHttp("/" + APP + "/state");
        about = get("state").body() + "; " + way;
    }

    private Path war(String file, String group, String start) throws IOException {
        return WarFile.build(file, dataSource, configuration(group, start));
    }

    private String configuration(String group, String start) {
        return """
                twinbox.outbox.data-source=%s
                twinbox.outbox.source=/servers
                twinbox.inbox.data-source=%s
                twinbox.inbox.group=%s
                %stwinbox.inbox.kafka.bootstrap.servers=%s
                twinbox.inbox.retry.max=PT0.5S
                twinbox.inbox.batch.max-time=PT60S
                servers.other-data-source=%s
                """.formatted(dataSource, dataSource, group, start, kafka.bootstrapServers(), otherDataSource);
    }

    String title() {
        return title;
    }

    /** What the server runs with. */
    String about() {
        return about;
    }

    @AfterAll
    void stop() {
        if (server != null) {
            server.close();
        }
        if (proxy != null) {
            proxy.close();
        }
        if (orders != null) {
            orders.close();
        }
        if (kafka != null) {
            kafka.close();
        }
    }

    // Publishing

    @Test
    void theSelfTestChoosesTheWayOfThisServer() {
        assertThat(server.log()).contains("it writes " + way + ", because ");
    }

    /** The business row, its event, and no difference between the transactions of the database that wrote them. */
    @ParameterizedTest
    @CsvSource({
        "EJB, BEFORE_JPA",
        "EJB, AFTER_JPA",
        "EJB, IN_FLUSH",
        "EJB, PLAIN_JDBC",
        "USER_TRANSACTION, BEFORE_JPA",
        "USER_TRANSACTION, AFTER_JPA",
        "USER_TRANSACTION, IN_FLUSH",
        "USER_TRANSACTION, PLAIN_JDBC",
        "TRANSACTIONAL, BEFORE_JPA",
        "TRANSACTIONAL, AFTER_JPA",
        "TRANSACTIONAL, IN_FLUSH",
        "TRANSACTIONAL, PLAIN_JDBC",
        "ASYNCHRONOUS, AFTER_JPA",
        "ASYNCHRONOUS, IN_FLUSH",
        "TIMER, AFTER_JPA",
        "TIMER, IN_FLUSH",
        "MANAGED_THREAD, AFTER_JPA",
        "MANAGED_THREAD, IN_FLUSH",
        "BATCH, AFTER_JPA",
        "BATCH, IN_FLUSH",
        "EJB, TWO_DATA_SOURCES",
        "USER_TRANSACTION, TWO_DATA_SOURCES",
        "TRANSACTIONAL, TWO_DATA_SOURCES"
    })
    void rowAndEventAreCommittedTogetherOrNotAtAll(String caller, String when) throws Exception {
        String committed = ref();
        HttpResponse<String> answer = run(caller, committed, 1, when, "COMMIT");
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        await().atMost(LIMIT).until(() -> isPublished(committed));
        run(caller, ref(), 1, when, "ROLLBACK");
        if (!caller.equals("TIMER")) {
            run(caller, ref(), 1, when, "THROW");
        }
        String next = ref(); // so that a timer's rollback is over, too
        run(caller, next, 1, when, "COMMIT");
        await().atMost(LIMIT).until(() -> isPublished(next));

        assertThat(isPublished(committed)).isTrue();
        assertThat(tables.count("elsewhere where ref in (?, ?)", committed, next))
                .isEqualTo(when.equals("TWO_DATA_SOURCES") ? 2 : 0);
        assertThat(tables.count("business where ref in (?, ?)", committed, next))
                .isEqualTo(2);
        assertConsistent();
    }

    @ParameterizedTest
    @CsvSource({"COMMIT, COMMIT", "COMMIT, ROLLBACK", "ROLLBACK, COMMIT", "ROLLBACK, ROLLBACK", "THROW, COMMIT"})
    void aNestedTransactionHasItsOwnOutcome(String ending, String innerEnding) throws Exception {
        for (String when : List.of("AFTER_JPA", "IN_FLUSH", "PLAIN_JDBC")) {
            String outer = ref();
            String inner = ref();
            HttpResponse<String> answer = get("run?caller=REQUIRES_NEW&account=1&ref=" + outer + "&when=" + when
                    + "&ending=" + ending + "&inner-account=2&inner-ref=" + inner + "&inner-ending=" + innerEnding);

            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(ending.equals("THROW") ? 500 : 200);
            assertThat(isPublished(outer)).as("outer, " + when).isEqualTo(ending.equals("COMMIT"));
            assertThat(isPublished(inner)).as("inner, " + when).isEqualTo(innerEnding.equals("COMMIT"));
        }
        assertConsistent();
    }

    @ParameterizedTest
    @ValueSource(strings = {"EJB", "USER_TRANSACTION", "TRANSACTIONAL"})
    void underLoadNothingIsLostNothingIsInventedAndTheOrderIsTheOrderOfTheLocks(String caller) throws Exception {
        long account = 10 + List.of("EJB", "USER_TRANSACTION", "TRANSACTIONAL").indexOf(caller);
        long before = tables.count("published");
        List<Callable<Integer>> clients = IntStream.range(0, THREADS)
                .<Callable<Integer>>mapToObj(thread -> () -> transactions(caller, account, thread))
                .toList();
        int committed = 0;
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            for (Future<Integer> each : threads.invokeAll(clients)) {
                committed += each.get();
            }
        } finally {
            threads.shutdownNow();
        }

        assertThat(committed).isGreaterThan(THREADS * TRANSACTIONS_PER_THREAD / 2);
        assertConsistent();
        assertThat(tables.count("published") - before).isEqualTo(committed);
        assertThat(tables.count("account_change where account = ?", account)).isEqualTo(committed);
        assertThat(tables.inversions(account)).as("inversions").isZero();
    }

    /** A third is rolled back. Returns how many were committed. */
    private int transactions(String caller, long account, int thread) throws Exception {
        List<String> moments = List.of("BEFORE_JPA", "AFTER_JPA", "IN_FLUSH", "PLAIN_JDBC");
        int committed = 0;
        for (int i = 0; i < TRANSACTIONS_PER_THREAD; i++) {
            String when = moments.get((i + thread) % moments.size());
            boolean rollback = i % 3 == 2;
            HttpResponse<String> answer = run(caller, ref(), account, when, rollback ? "ROLLBACK" : "COMMIT");
            if (!rollback) {
                assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
                committed++;
            }
        }
        return committed;
    }

    private void assertConsistent() {
        assertThat(tables.texts("select ref from elsewhere where ref not in (select ref from business)"))
                .as("rows of the other data source without the business row")
                .isEmpty();
        assertThat(tables.withoutEvent())
                .as("business rows without their event")
                .isEmpty();
        assertThat(tables.withoutBusiness())
                .as("events without their business row")
                .isEmpty();
        assertThat(tables.apart()).as("written by two transactions").isEmpty();
    }

    private boolean isPublished(String ref) {
        return tables.count("published where ref = ?", ref) == 1;
    }

    // Locks

    /** Grants, and what is kept until the end of a fenced transaction, have transactions of their own. */
    @ParameterizedTest
    @ValueSource(strings = {"EJB", "USER_TRANSACTION", "TRANSACTIONAL"})
    void ofTwoHoldersOfAKeyOnlyTheLaterOneWrites(String caller) throws Exception {
        String ref = ref();

        HttpResponse<String> answer = get("locks?caller=" + caller + "&account=1&ref=" + ref);

        assertThat(answer.body()).isEqualTo("late refused");
        assertThat(tables.texts("select ref from business where ref like ?", "%" + ref))
                .containsExactly(ref);
        assertThat(isPublished(ref)).isTrue();
        assertConsistent();
    }

    /** A lock of a transaction ends with it, and a lease is extended once its fenced transaction has ended. */
    @ParameterizedTest
    @ValueSource(strings = {"EJB", "USER_TRANSACTION", "TRANSACTIONAL"})
    void aLockOfATransactionEndsWithItAndALeaseIsExtendedAfterIt(String caller) throws Exception {
        String ref = ref();

        HttpResponse<String> answer = get("transaction-locks?caller=" + caller + "&ref=" + ref);

        assertThat(answer.body()).isEqualTo("[true, false, true, true]");
        await().atMost(LIMIT)
                .until(() -> tables.count(
                                "outbox_lock where key = ? and lease_until > clock_timestamp() + interval '5 minutes'",
                                ref)
                        == 1);
    }

    // Receiving

    @Test
    void eachHandlerHandlesEachEventOnceAlsoIfItComesTwice() {
        List<String> ids = ids(20);
        orders.send("orders", ids);
        orders.send("orders", ids);
        List<String> last = ids(1);
        orders.send("orders", last);

        for (String handler : List.of("cdi", "transactional", "ejb", "list")) {
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(tables.effects(handler)).contains(last.get(0)));
            assertThat(tables.effects(handler)).containsAll(ids).doesNotHaveDuplicates();
        }
    }

    @Test
    void aBatchIsOneTransactionUnlessAHandlerWantsOneForEachEvent() {
        List<String> batch = ids(30);
        List<String> single = ids(5);
        orders.send("tenants", batch);
        orders.send("single", single);

        await().atMost(LIMIT).until(() -> tables.effects("of nobody").containsAll(batch));
        await().atMost(LIMIT).until(() -> tables.effects("single").size() == 5);
        assertThat(transactionsOf(batch)).isEqualTo(1);
        assertThat(transactionsOf(single)).isEqualTo(5);
        assertThat(tables.effects("single")).isEqualTo(single);
    }

    private long transactionsOf(List<String> ids) {
        return ids.stream()
                .flatMap(id -> tables.texts("select tx::text from effect where event = ?", id).stream())
                .distinct()
                .count();
    }

    @Test
    void noRequestScopedInstanceSurvivesACall() {
        List<String> ids = ids(20);
        for (int i = 0; i < ids.size(); i++) {
            orders.add("tenants", ids.get(i), 0, i % 2 == 0 ? "acme" : null);
        }
        orders.flush();

        await().atMost(LIMIT)
                .until(() -> tables.effects("of acme").size() >= 10
                        && tables.effects("of nobody").contains(ids.get(19)));
        for (int i = 0; i < ids.size(); i++) {
            assertThat(tables.effects(i % 2 == 0 ? "of acme" : "of nobody")).contains(ids.get(i));
        }
    }

    @Test
    void whatFailsIsParkedAndRetriedInOrder() {
        List<String> ids = ids(6);
        for (int i = 0; i < ids.size(); i++) {
            orders.add("failing", ids.get(i), i == 2 ? 6 : 0, null);
        }
        orders.flush();

        await().atMost(LIMIT).until(() -> tables.count("inbox_parked") > 0);
        await().atMost(LIMIT).until(() -> tables.effects("failing").size() == ids.size());
        assertThat(tables.effects("failing")).isEqualTo(ids);
    }

    @Test
    void aHandlerThatExceedsItsTimeLimitIsRolledBackAndRetried() {
        String slow = ref();
        String next = ref();
        orders.add("slow", slow, 1, null);
        orders.add("slow", next, 0, null);
        orders.flush();

        await().atMost(LIMIT)
                .until(() -> tables.texts("select error from inbox_parked where handler = 'slow'").stream()
                        .anyMatch(error -> error.contains("HandlerTimeoutException")));
        await().atMost(LIMIT).until(() -> tables.effects("slow").size() == 2);
        assertThat(tables.effects("slow")).containsExactly(slow, next);
    }

    @Test
    void atMostOnceEachEventHasOneEffect() {
        List<String> ids = ids(20);
        orders.send("signals", ids);

        await().atMost(LIMIT).until(() -> tables.effects("signal").size() >= ids.size());
        assertThat(tables.effects("signal")).isEqualTo(ids);
    }

    @Test
    void whatAHandlerPublishesSharesItsTransaction() {
        List<String> ids = IntStream.range(100, 120)
                .mapToObj(account -> account + "-" + ref())
                .toList();
        orders.send("replies", ids);
        orders.send("replies", ids);

        await().atMost(LIMIT).until(() -> ids.stream().allMatch(this::isPublished));
        assertConsistent();
    }

    // The life of an application

    /** Health, Metrics and OpenTelemetry are the server's. An application works without them. */
    @Test
    void whatTheServerDoesNotHaveIsLoggedOnce() {
        String state = get("state").body();
        String missing = state.substring(state.lastIndexOf("; ") + 2);
        List<String> lines = server.log()
                .lines()
                .filter(line -> line.contains("This server does not have "))
                .toList();

        if (missing.equals("none")) {
            assertThat(lines).isEmpty();
        } else {
            assertThat(lines).hasSize(1);
            assertThat(lines.get(0)).contains(missing.split(", "));
        }
    }

    @Test
    @Order(LAST - 6)
    void anApplicationWithoutJpaPublishesAndReceives() throws Exception {
        publishesAndReceives("twinbox-plain", WarFile.buildPlain("twinbox-plain", configuration("plain", "")), "plain");
    }

    /** The libraries are in its {@code lib}, the handler is in an ejb-jar. */
    @Test
    @Order(LAST - 5)
    void anApplicationInAnEarPublishesAndReceives() throws Exception {
        assumeTrue(server.hasEars(), "this server has no EARs");
        publishesAndReceives("twinbox-ear", EarFile.build("twinbox-ear", configuration("ear", "")), "ear");
    }

    private void publishesAndReceives(String root, Path file, String group) throws Exception {
        server.deploy(file);
        try {
            server.awaitHttp("/" + root + "/change");
            String committed = ref();
            String undone = ref();
            HTTP.send(
                    request("/" + root + "/change?commit=true&ref=" + committed),
                    HttpResponse.BodyHandlers.discarding());
            HTTP.send(
                    request("/" + root + "/change?commit=false&ref=" + undone), HttpResponse.BodyHandlers.discarding());
            List<String> ids = ids(20);
            orders.send("orders", ids);
            orders.send("orders", ids);

            await().atMost(LIMIT).until(() -> tables.effects(group, "plain").containsAll(ids));
            assertThat(tables.effects(group, "plain")).doesNotHaveDuplicates();
            assertThat(isPublished(committed)).isTrue();
            assertThat(isPublished(undone)).isFalse();
        } finally {
            server.undeploy(file);
        }
        assertConsistent();
    }

    @Test
    @Order(LAST - 4)
    void twoApplicationsOnOneServerHandleEachEventOnceEach() throws Exception {
        Path second = war("twinbox-second", "second", "twinbox.inbox.start=latest\n");
        server.deploy(second);
        try {
            server.awaitHttp("/twinbox-second/state");
            List<String> warmUp = new ArrayList<>();
            await().atMost(LIMIT)
                    .until(
                            () -> { // the second one starts at the end of the topic
                                List<String> one = ids(1);
                                orders.send("orders", one);
                                warmUp.addAll(one);
                                return !tables.effects("second", "ejb").isEmpty();
                            });
            List<String> ids = ids(50);
            orders.send("orders", ids);
            orders.send("orders", ids);

            for (String app : List.of(name, "second")) {
                for (String handler : List.of("cdi", "transactional", "ejb", "list")) {
                    await().atMost(LIMIT)
                            .untilAsserted(() ->
                                    assertThat(tables.effects(app, handler)).containsAll(ids));
                    assertThat(tables.effects(app, handler)).doesNotHaveDuplicates();
                }
            }
        } finally {
            server.undeploy(second);
        }
        assertThatItWorks();
    }

    @Test
    @Order(LAST - 3)
    void afterARestartOfPostgresAndKafkaAllGoesOn() {
        SharedServers.postgres().restart();
        kafka.restart();

        assertThatItWorks();
        assertConsistent();
    }

    @Test
    @Order(LAST - 2)
    void afterAKillOfTheServerNothingIsLostAndNothingIsDoneTwice() throws Exception {
        List<String> ids = ids(1_000);
        int before = tables.effects("ejb").size();
        AtomicBoolean stop = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            IntStream.range(0, THREADS).forEach(thread -> threads.execute(() -> publishUntil(stop, thread)));
            orders.send("orders", ids);
            await().atMost(LIMIT).until(() -> tables.effects("ejb").size() > before);
            server.kill();
        } finally {
            stop.set(true);
            threads.shutdown();
        }
        server.start();
        if (!server.remembersApplications()) {
            server.deploy(war);
        }
        server.awaitHttp("/" + APP + "/state");

        for (String handler : List.of("cdi", "transactional", "ejb", "list")) {
            await().atMost(LIMIT).until(() -> new HashSet<>(tables.effects(handler)).containsAll(ids));
            assertThat(tables.count(
                            "(select from effect where app = ? and handler = ? group by event having count(*) > 1) d",
                            name,
                            handler))
                    .as("repeated effects of " + handler)
                    .isZero();
        }
        assertThat(tables.count("pg_prepared_xacts")).isZero();
        assertConsistent();
    }

    private void publishUntil(AtomicBoolean stop, int thread) {
        while (!stop.get()) {
            try {
                run("EJB", ref(), 20 + thread, "AFTER_JPA", "COMMIT");
            } catch (Exception e) {
                // the server was killed
            }
        }
    }

    @Test
    @Order(LAST - 1)
    void anUndeployedApplicationLeavesNoThreadAndANewOneWorks() throws Exception {
        assertThat(threads()).as("before").anyMatch(thread -> thread.contains("twinbox-inbox"));
        for (int i = 0; i < REDEPLOYMENTS; i++) {
            undeploy();
            server.deploy(war);
            assertThatItWorks();
        }
        assertConsistent();
    }

    private void undeploy() {
        server.undeploy(war);
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(threads())
                        .noneMatch(thread -> thread.contains("twinbox-inbox") || thread.contains("kafka")));
    }

    /** The database is away for the outbox and for the receiver, not for the server's start. */
    @Test
    @Order(LAST)
    void anApplicationThatStartsWithoutItsDatabaseWorksWhenItIsBack() throws Exception {
        undeploy();
        proxy.cut();
        server.deploy(war);
        server.awaitHttp("/" + APP + "/state");
        String ref = ref();
        HttpResponse<String> refused = run("EJB", ref, 1, "BEFORE_JPA", "COMMIT");
        assertThat(refused.statusCode()).isEqualTo(500);
        assertThat(refused.body()).contains("The outbox is not open, so nothing can be published");

        proxy.heal();

        assertThatItWorks();
        assertThat(isPublished(ref)).isFalse();
        assertConsistent();
    }

    /** Publishes and receives, if need be after some tries. */
    private void assertThatItWorks() {
        server.awaitHttp("/" + APP + "/state");
        await().atMost(LIMIT).untilAsserted(() -> {
            String ref = ref();
            HttpResponse<String> answer = run("EJB", ref, 1, "AFTER_JPA", "COMMIT");
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            assertThat(isPublished(ref)).isTrue();
        });
        List<String> ids = ids(3);
        orders.send("orders", ids);
        await().atMost(LIMIT).until(() -> tables.effects("ejb").containsAll(ids));
    }

    /** The names of the server's threads. */
    private List<String> threads() throws IOException {
        Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
        Process process = new ProcessBuilder(
                        jcmd.toString(), Long.toString(server.jvm().pid()), "Thread.print")
                .redirectErrorStream(true)
                .start();
        String dump = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        List<String> names = dump.lines()
                .filter(line -> line.startsWith("\""))
                .map(line -> line.substring(1, line.indexOf('"', 1)))
                .toList();
        assertThat(names).as(dump).isNotEmpty();
        return names;
    }

    private static String ref() {
        return UUID.randomUUID().toString();
    }

    private static List<String> ids(int number) {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            ids.add(ref());
        }
        return ids;
    }

    private HttpResponse<String> run(String caller, String ref, long account, String when, String ending)
            throws Exception {
        return get(
                "run?caller=" + caller + "&account=" + account + "&ref=" + ref + "&when=" + when + "&ending=" + ending);
    }

    private HttpResponse<String> get(String path) {
        try {
            return HTTP.send(request("/" + APP + "/" + path), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private HttpRequest request(String path) {
        return HttpRequest.newBuilder(server.uri(path)).timeout(LIMIT).build();
    }
}
