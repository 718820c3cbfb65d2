package dev.twinbox.proof.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.twinbox.fixtures.SharedServers;
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

/** What Twinbox must do on each server. The application is the same. Here: the life of an application and of its server. */
abstract class ServerChecks extends ApplicationChecks {

    private static final int REDEPLOYMENTS = Integer.getInteger("servers.redeployments", 10);

    private boolean hasTracing;

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
    void jmxShowsTheFiguresOfOutboxAndInbox() {
        String inbox = "dev.twinbox:type=Inbox,application=\"" + APP + "\",group=\"" + name + "\" ";
        long before = effects(get("jmx").body(), inbox);
        List<String> ids = ids(10);
        orders.send("orders", ids);
        await().atMost(LIMIT).until(() -> tables.effects("ejb").containsAll(ids));

        await().atMost(LIMIT).untilAsserted(() -> {
            String all = get("jmx").body();
            assertThat(all)
                    .contains(inbox + "Ready=true", inbox + "Live=true", inbox + "ParkedDead=0")
                    .contains("dev.twinbox:type=Outbox,application=\"" + APP + "\" Ready=true");
            assertThat(effects(all, inbox)).isGreaterThanOrEqualTo(before + ids.size());
        });
    }

    private static long effects(String lines, String bean) {
        String start = bean + "Effects=";
        return lines.lines()
                .filter(line -> line.startsWith(start))
                .mapToLong(line -> Long.parseLong(line.substring(start.length())))
                .findFirst()
                .orElseThrow(() -> new AssertionError(lines));
    }

    @Test
    @Order(LAST - 5)
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

    @Test
    @Order(LAST - 4)
    void afterARestartOfPostgresAndKafkaAllGoesOn() {
        SharedServers.postgres().restart();
        kafka.restart();

        assertThatItWorks();
        assertConsistent();
    }

    @Test
    @Order(LAST - 3)
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
        startWithTracing();

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

    /** With OpenTelemetry where the server has it, for {@link #withOpenTelemetryAnEventHasATrace}: a start takes long. */
    private void startWithTracing() {
        hasTracing = server.withTracing();
        server.start();
        if (!server.remembersApplications()) {
            server.deploy(war);
        }
        server.awaitHttp("/" + APP + "/state");
    }

    /** Without it, see {@link #whatTheServerDoesNotHaveIsLoggedOnce}, events have none. */
    @Test
    @Order(LAST - 2)
    void withOpenTelemetryAnEventHasATrace() throws Exception {
        assumeTrue(product != Product.GLASSFISH, "the server has no OpenTelemetry");
        if (!hasTracing) {
            server.stop();
            startWithTracing();
        }
        assertThat(get("state").body()).doesNotContain("OpenTelemetry");
        assertThat(server.log()).contains("Tracing is on");

        String ref = ref();
        run("EJB", ref, 1, "AFTER_JPA", "COMMIT");
        assertThat(isTraced(ref)).isTrue();
    }

    @Test
    @Order(LAST - 2)
    void theServerShowsTwinboxMetrics() {
        assumeTrue(product != Product.GLASSFISH && product != Product.WILDFLY, "the server has no metrics");
        if (!hasTracing) {
            server.stop();
            startWithTracing();
        }
        HttpRequest request = HttpRequest.newBuilder(server.uri("/metrics")).build();

        await().atMost(LIMIT).untilAsserted(() -> {
            HttpResponse<String> answer = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            assertThat(answer.body()).contains("twinbox_inbox_");
        });
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
