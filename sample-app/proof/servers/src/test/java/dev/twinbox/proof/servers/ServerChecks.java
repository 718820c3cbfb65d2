package dev.twinbox.proof.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.twinbox.fixtures.ChildProcessException;
import dev.twinbox.fixtures.SharedServers;
import dev.twinbox.proof.appserver.ApplicationDatabase;
import dev.twinbox.proof.appserver.Product;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/** What Twinbox must do on each server. The application is the same. Here: the life of an application. */
abstract class ServerChecks extends ReceivingChecks {

    private static final int REDEPLOYMENTS = Integer.getInteger("servers.redeployments", 10);
    private static final int LAST = Integer.MAX_VALUE;
    private static final String EAR = "twinbox-ear";

    ServerChecks(Product product, String way) {
        super(product, way);
    }

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

    /** Where the server has MicroProfile Health. */
    @Test
    void theServerIsReadyWhenTwinboxIs() {
        URI readiness = server.readiness().orElseGet(() -> abort("the server has no readiness"));
        HttpRequest request = HttpRequest.newBuilder(readiness).build();

        await().atMost(LIMIT).untilAsserted(() -> {
            HttpResponse<String> answer = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            assertThat(answer.body()).contains("twinbox-outbox").contains("twinbox-inbox");
        });
    }

    @Test
    @Order(LAST - 7)
    void anApplicationWithoutJpaPublishesAndReceives() throws Exception {
        publishesAndReceives(PLAIN, plain, name + "-plain");
    }

    /** Where Hibernate 6.6 can take the place of the server's JPA provider. */
    @Test
    @Order(LAST - 8)
    void anApplicationWithHibernateInItsWarPublishes() throws Exception {
        assumeTrue(product == Product.WILDFLY || product == Product.PAYARA6, "not part of the test");
        String root = "twinbox-hibernate";
        Path file = WarFile.buildWithHibernate(
                file(root + ".war"),
                ApplicationDatabase.DATA_SOURCE,
                configuration(name + "-hibernate", "twinbox.inbox.start=latest\n"),
                product == Product.WILDFLY ? "JBossAS" : "SunOne");
        server.deploy(file);
        try {
            server.awaitHttp("/" + root + "/state");
            assertThat(getOf(root, "state").body()).contains("Hibernate 6.6.56.Final");
            for (String caller : List.of("EJB", "USER_TRANSACTION", "TRANSACTIONAL")) {
                for (String when : List.of("BEFORE_JPA", "AFTER_JPA", "IN_FLUSH")) {
                    String committed = ref();
                    HttpResponse<String> answer = getOf(root, runQuery(caller, committed, 1, when, "COMMIT"));
                    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
                    assertThat(isPublished(committed)).isTrue();
                    getOf(root, runQuery(caller, ref(), 1, when, "ROLLBACK"));
                }
            }
        } finally {
            server.undeploy(file);
        }
        assertConsistent();
    }

    /** The WAR holds Twinbox and the handler. It uses a bean of an ejb-jar. */
    @Test
    @Order(LAST - 6)
    void anEarPublishesAndReceives() throws Exception {
        assumeTrue(server.hasEars(), "the server has no EARs");
        String group = name + "-ear";
        publishesAndReceives(
                EAR, EarFile.build(file(EAR + ".ear"), configuration(group, "twinbox.inbox.start=latest\n")), group);
    }

    @Test
    @Order(LAST - 5)
    void anEarWithTwinboxInItsLibIsRefused() throws Exception {
        assumeTrue(server.hasEars(), "the server has no EARs");
        Path ear = EarFile.buildWithTwinboxInLib(file("twinbox-lib.ear"), configuration(name + "-lib", ""));
        int before = server.log().length();

        assertThatThrownBy(() -> server.deploy(ear)).isInstanceOf(ChildProcessException.class);

        assertThat(server.log().substring(before))
                .contains(
                        product == Product.GLASSFISH
                                ? "ejbs in the application with interface" // GlassFish finds each bean once in each
                                // module
                                : "put its jar into WEB-INF/lib");
    }

    private void publishesAndReceives(String root, Path file, String group) throws Exception {
        server.deploy(file);
        try {
            server.awaitHttp("/" + root + "/change");
            String committed = ref();
            String undone = ref();
            assertThat(change(root, committed, true).statusCode()).isEqualTo(200);
            change(root, undone, false);
            awaitJoined(group, "plain");
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
        String group = name + "-second";
        Path second = war("twinbox-second", group, "twinbox.inbox.start=latest\n");
        server.deploy(second);
        try {
            server.awaitHttp("/twinbox-second/state");
            awaitJoined(group, "ejb");
            List<String> ids = ids(50);
            orders.send("orders", ids);
            orders.send("orders", ids);

            for (String app : List.of(name, group)) {
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

    /** A group that starts at the end of the topic gets what is sent once it is there. */
    private void awaitJoined(String group, String handler) {
        await().atMost(LIMIT).until(() -> {
            orders.send("orders", ids(1));
            return !tables.effects(group, handler).isEmpty();
        });
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
            assertThatItPublishes();
        }
        assertThatItWorks();
        assertConsistent();
    }

    private void undeploy() {
        server.undeploy(war);
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(threads())
                        .noneMatch(thread -> thread.contains("twinbox-inbox") || thread.contains("kafka")));
    }

    /** Without JPA: a JPA provider may need the database when it is deployed. */
    @Test
    @Order(LAST)
    void anApplicationThatStartsWithoutItsDatabaseWorksWhenItIsBack() throws Exception {
        undeploy();
        proxy.cut();
        server.deploy(plain);
        server.awaitHttp("/" + PLAIN + "/change");
        String refused = ref();
        HttpResponse<String> answer = getOf(PLAIN, "change?row=false&ref=" + refused);
        assertThat(answer.statusCode()).isEqualTo(500);
        assertThat(answer.body() + server.log()).contains("The outbox is not open, so nothing can be published");

        proxy.heal();

        await().atMost(LIMIT).until(() -> {
            String ref = ref();
            return change(PLAIN, ref, true).statusCode() == 200 && isPublished(ref);
        });
        assertThat(isPublished(refused)).isFalse();
        List<String> ids = ids(3);
        orders.send("orders", ids);
        await().atMost(LIMIT)
                .until(() -> tables.effects(name + "-plain", "plain").containsAll(ids));
        assertConsistent();
    }
}
