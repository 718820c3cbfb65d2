package dev.twinbox.proof.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.twinbox.fixtures.ApplicationServer;
import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.SharedServers;
import dev.twinbox.fixtures.TcpProxy;
import dev.twinbox.proof.appserver.ApplicationDatabase;
import dev.twinbox.proof.appserver.Jdk;
import dev.twinbox.proof.appserver.Product;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/** One server with the application on it. All is seen from outside, by HTTP, SQL and Kafka. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@ExtendWith(CompatibilityPage.class)
abstract class ServerUnderTest {

    static final String APP = "twinbox-app";
    static final String PLAIN = "twinbox-plain";
    static final Duration LIMIT = Duration.ofMinutes(4);

    static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    final Product product;
    final String name;
    final String way;

    TcpProxy proxy;
    KafkaBroker kafka;
    Tables tables;
    Orders orders;
    ApplicationServer server;
    Path war;
    Path plain;
    String about = "did not start";

    /**
     * Starts nothing yet.
     *
     * @param way on which the outbox writes, as its log says
     */
    ServerUnderTest(Product product, String way) {
        this.product = product;
        this.name = product.label();
        this.way = way;
    }

    /** Where an application is built. Servers are tested side by side, each with its own applications. */
    Path file(String name) throws IOException {
        return Files.createDirectories(Path.of("target", "wars", product.label()))
                .resolve(name)
                .toAbsolutePath();
    }

    @BeforeAll
    void deploy() throws Exception {
        assumeThereIsAJdk();
        PostgresServer postgres = SharedServers.postgres();
        tables = new Tables(postgres, name);
        kafka = SharedServers.kafka();
        Topics.createAnew(kafka, List.of("orders", "tenants", "single", "failing", "replies", "slow", "signals"));
        orders = new Orders(kafka.bootstrapServers());
        war = war(APP, name, "");
        plain = WarFile.buildPlain(
                file(PLAIN + ".war"), configuration(name + "-plain", "twinbox.inbox.start=latest\n"));
        proxy = TcpProxy.to("127.0.0.1", postgres.port());
        server = product.server(new ApplicationDatabase(proxy.port(), name, postgres.user(), postgres.password()));
        server.start();
        server.deploy(war);
        server.awaitHttp("/" + APP + "/state");
        about = get("state").body() + "; " + (product == Product.WILDFLY ? "local" : "XA") + "; " + way;
    }

    void assumeThereIsAJdk() {
        boolean isThere = Jdk.atLeast(product.javaVersion()).isPresent();
        String missing = product.title() + " needs a JDK " + product.javaVersion() + " or later, and there is none";
        assertThat(isThere || System.getenv("CI") == null).as(missing).isTrue();
        assumeTrue(isThere, "skipped: " + missing);
    }

    Path war(String root, String group, String start) throws IOException {
        return WarFile.build(file(root + ".war"), ApplicationDatabase.DATA_SOURCE, configuration(group, start));
    }

    String configuration(String group, String start) {
        return configuration(ApplicationDatabase.DATA_SOURCE, group, start);
    }

    String configuration(String dataSource, String group, String start) {
        return """
                twinbox.outbox.data-source=%1$s
                twinbox.outbox.source=/servers
                twinbox.inbox.data-source=%1$s
                twinbox.inbox.group=%2$s
                %3$stwinbox.inbox.kafka.bootstrap.servers=%4$s
                twinbox.inbox.retry.max=PT0.5S
                twinbox.inbox.batch.max-time=PT60S
                servers.other-data-source=%5$s
                """.formatted(dataSource, group, start, kafka.bootstrapServers(), ApplicationDatabase.OTHER_DATA_SOURCE);
    }

    String title() {
        return product.title();
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
    }

    /** Publishes and receives, if need be after some tries. */
    void assertThatItWorks() {
        assertThatItPublishes();
        List<String> ids = ids(3);
        orders.send("orders", ids);
        await().atMost(LIMIT).until(() -> tables.effects("ejb").containsAll(ids));
    }

    void assertThatItPublishes() {
        server.awaitHttp("/" + APP + "/state");
        await().atMost(LIMIT).untilAsserted(() -> {
            String ref = ref();
            HttpResponse<String> answer = run("EJB", ref, 1, "AFTER_JPA", "COMMIT");
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            assertThat(isPublished(ref)).isTrue();
        });
    }

    /** The names of the server's threads. */
    List<String> threads() throws IOException {
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

    static String ref() {
        return UUID.randomUUID().toString();
    }

    static List<String> ids(int number) {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            ids.add(ref());
        }
        return ids;
    }

    HttpResponse<String> run(String caller, String ref, long account, String when, String ending) throws Exception {
        return get(runQuery(caller, ref, account, when, ending));
    }

    static String runQuery(String caller, String ref, long account, String when, String ending) {
        return "run?caller=" + caller + "&account=" + account + "&ref=" + ref + "&when=" + when + "&ending=" + ending;
    }

    /** Of the application without JPA. */
    HttpResponse<String> change(String root, String ref, boolean commit) throws Exception {
        return HTTP.send(
                request("/" + root + "/change?commit=" + commit + "&ref=" + ref), HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> get(String path) {
        return getOf(APP, path);
    }

    HttpResponse<String> getOf(String root, String path) {
        try {
            return HTTP.send(request("/" + root + "/" + path), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    HttpRequest request(String path) {
        return HttpRequest.newBuilder(server.uri(path)).timeout(LIMIT).build();
    }

    void assertConsistent() {
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

    /** Whether the event continues a trace, or begins one. */
    boolean isTraced(String ref) {
        return tables.count(
                        "outbox_event where convert_from(payload, 'UTF8')::json->>'ref' = ? and 'traceparent' = any(headers)",
                        ref)
                == 1;
    }

    boolean isPublished(String ref) {
        return tables.count("published where ref = ?", ref) == 1;
    }
}
