package dev.twinbox.it;

import dev.twinbox.lock.NaiveRedisLock;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.jboss.shrinkwrap.api.spec.WebArchive;

/** Applications with locks, their database, and questions to them. */
final class LockWars {

    static final String DATA_SOURCE = "twinbox.locks.data-source=java:app/jdbc/locks\n";

    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private LockWars() {}

    /** Creates the database with the table of locks and the tables of the applications. */
    static void createDatabase(String name) throws Exception {
        TestDatabase.server().createDatabase(name);
        TestDatabase.migrate(name, TestDatabase.DEFAULT_NAMES, "");
        TestDatabase.execute(name, """
                create table locked_effect (
                  number bigint generated always as identity,
                  key    text not null,
                  token  bigint not null
                );
                create table counted (key text primary key, n bigint not null default 0);
                insert into counted (key) select prefix || i from generate_series(0, 999) i, unnest(array['key ', 'naive ']) prefix;
                """);
    }

    /** An application that has no key of locks. Its data source is that of its outbox. */
    static WebArchive withLazyLocks(String name, String url, Class<?> bean) {
        return withDataSource(
                TestWar.named(name, "twinbox.outbox.data-source=java:app/jdbc/locks\n")
                        .addClasses(StateServlet.class, bean),
                url,
                "postgres");
    }

    static WebArchive war(String name, String configuration, String url, String user) {
        WebArchive war = TestWar.named(name, configuration)
                .addClasses(LockServlet.class, LockedEffects.class, LockedWork.class, StateServlet.class)
                .addClasses(UnusualTransactions.class, UnusualTransactions.Work.class)
                .addClasses(LockServlet.Action.class, LockLoad.class, LockLoad.Outcome.class, LockLoad.Counting.class)
                .addClasses(NaiveCounting.class, NaiveRedisLock.class);
        return withDataSource(war, url, user);
    }

    private static WebArchive withDataSource(WebArchive war, String url, String user) {
        return war.setWebXML(new StringAsset("""
                <web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0">
                  <data-source>
                    <name>java:app/jdbc/locks</name>
                    <class-name>org.postgresql.xa.PGXADataSource</class-name>
                    <url>%s</url>
                    <user>%s</user>
                    <password>twinbox</password>
                    <max-pool-size>20</max-pool-size>
                  </data-source>
                </web-app>
                """.formatted(url, user)));
    }

    static String ask(TestServer server, String application, String action, String... parameters) throws Exception {
        StringBuilder query = new StringBuilder("/" + application + "/lock?do=" + action);
        for (int i = 0; i < parameters.length; i += 2) {
            query.append('&').append(parameters[i]).append('=');
            query.append(URLEncoder.encode(parameters[i + 1], StandardCharsets.UTF_8));
        }
        URI uri = server.payara().uri(query.toString());
        return get(uri).body().strip();
    }

    static int status(TestServer server, String application) throws Exception {
        return get(server.payara().uri("/" + application + "/state")).statusCode();
    }

    private static HttpResponse<String> get(URI uri) throws Exception {
        HttpRequest request =
                HttpRequest.newBuilder(uri).timeout(Duration.ofMinutes(5)).build();
        return HTTP.send(request, HttpResponse.BodyHandlers.ofString());
    }
}
