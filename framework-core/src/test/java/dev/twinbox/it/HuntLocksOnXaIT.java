package dev.twinbox.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.it.CommitCutter.Cut;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Hunt: XA data sources in Payara whose connections break at the commit. */
@Tag("proof")
class HuntLocksOnXaIT {

    private static final String DATABASE = "hunt_xa";
    private static final AtomicInteger KEYS = new AtomicInteger();
    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static CommitCutter line;
    private static TestServer server;

    private final String key = "key-" + KEYS.incrementAndGet();

    @BeforeAll
    static void deploy() throws Exception {
        LockWars.createDatabase(DATABASE);
        TestDatabase.server().createDatabase("hunt_xa_other");
        TestDatabase.execute("hunt_xa_other", "create table other_effect (key text)");
        TestDatabase.execute(DATABASE, """
                create function kill_me() returns trigger language plpgsql as $$
                begin
                  if new.key like 'kill%' then
                    perform pg_terminate_backend(pg_backend_pid());
                    perform pg_sleep(1);
                  end if;
                  return null;
                end $$;
                create constraint trigger kill_lock after insert or update on outbox_lock deferrable initially deferred
                  for each row execute function kill_me();
                create constraint trigger kill_effect after insert on locked_effect deferrable initially deferred
                  for each row when (new.key like 'killeffect%') execute function kill_me()""");
        line = new CommitCutter(TestDatabase.server().port());
        server = TestServer.shared();
        String url = "jdbc:postgresql://127.0.0.1:" + line.port() + "/" + DATABASE;
        WebArchive war = LockWars.war("hunt-xa", LockWars.DATA_SOURCE, url, "postgres")
                .addClasses(TwoEffects.class, HuntXaServlet.class)
                .setWebXML(new StringAsset("""
                        <web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0">
                          <data-source>
                            <name>java:app/jdbc/locks</name>
                            <class-name>org.postgresql.xa.PGXADataSource</class-name>
                            <url>%s</url>
                            <user>postgres</user>
                            <password>twinbox</password>
                            <max-pool-size>20</max-pool-size>
                          </data-source>
                          <data-source>
                            <name>java:app/jdbc/other</name>
                            <class-name>org.postgresql.xa.PGXADataSource</class-name>
                            <url>%s</url>
                            <user>postgres</user>
                            <password>twinbox</password>
                            <max-pool-size>20</max-pool-size>
                          </data-source>
                        </web-app>
                        """.formatted(url, TestDatabase.server().jdbcUrl("hunt_xa_other"))));
        server.deploy(List.of(war));
    }

    @AfterAll
    static void stop() throws Exception {
        server.close();
        line.close();
    }

    private static String ask(String action, String... parameters) throws Exception {
        return LockWars.ask(server, "hunt-xa", action, parameters);
    }

    private String two() throws Exception {
        return hunt("two");
    }

    private String hunt(String way) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(server.payara().uri("/hunt-xa/hunt?do=" + way + "&key=" + key))
                .timeout(Duration.ofMinutes(3))
                .build();
        return HTTP.send(request, HttpResponse.BodyHandlers.ofString()).body().strip();
    }

    private String awaitToken(String of, String lease) {
        return await().atMost(Duration.ofMinutes(1))
                .until(() -> ask("take", "key", of, "lease", lease), answer -> answer.matches("\\d+"));
    }

    private static String first(String database, String sql) throws Exception {
        try (Connection connection = TestDatabase.server().connect(database);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }

    private static void heal() {
        line.arm(Cut.NONE, "");
        for (int i = 0; i < 20; i++) {
            try {
                if (ask("take", "key", "heal-" + KEYS.incrementAndGet(), "lease", "PT1M").matches("\\d+")) {
                    return;
                }
            } catch (Exception e) {
                // again
            }
        }
    }

    /** The transaction of the grant is rolled back. A lock that is handed out would be none. */
    @Test
    void theLineBreaksBeforeTheCommitOfAGrant() throws Exception {
        heal();
        line.arm(Cut.BEFORE, "COMMIT");
        String answer = ask("take", "key", key, "lease", "PT10M");
        System.out.println("XA grant, cut before: " + answer + " done " + line.isDone());
        assertThat(line.isDone()).isTrue();
        assertThat(answer).doesNotMatch("\\d+");
        assertThat(first(DATABASE, "select count(*) from outbox_lock where key = '" + key + "'"))
                .isEqualTo("0");
        awaitToken(key, "PT1M");
    }

    /** The grant is durable, and nobody knows. It is given back. */
    @Test
    void theLineBreaksAfterTheCommitOfAGrant() throws Exception {
        heal();
        line.arm(Cut.AFTER, "COMMIT");
        String answer = ask("take", "key", key, "lease", "PT10M");
        System.out.println("XA grant, cut after: " + answer + " done " + line.isDone());
        assertThat(line.isDone()).isTrue();
        if (!answer.matches("\\d+")) {
            awaitToken(key, "PT1M"); // else locked for 10 minutes
        }
    }

    /** As after a restart or a fail-over of the database while a lock is held. */
    @Test
    void aHolderClosesAfterAllConnectionsOfThePoolWereEnded() throws Exception {
        heal();
        String token = awaitToken(key, "PT10M");
        first(
                DATABASE,
                "select count(pg_terminate_backend(pid)) from pg_stat_activity where backend_type = 'client backend'"
                        + " and pid <> pg_backend_pid() and datname = current_database()");
        String answer = ask("close", "token", token);
        System.out.println("XA close after a restart: " + answer);
        assertThat(first(DATABASE, "select count(*) from outbox_lock where key = '" + key + "'"))
                .as("the key is locked for 10 minutes although its holder has closed it")
                .isEqualTo("0");
    }

    @Test
    void theLineBreaksBeforeTheCommitOfAFencedWrite() throws Exception {
        heal();
        String token = awaitToken(key, "PT10M");
        line.arm(Cut.BEFORE, "COMMIT");
        String answer = ask("write", "key", key, "token", token);
        System.out.println("XA write, cut before: " + answer + " done " + line.isDone());
        String effects = first(DATABASE, "select count(*) from locked_effect where key = '" + key + "'");
        assertThat(effects).isEqualTo("0");
        assertThat(answer).isNotEqualTo("done");
        assertThat(ask("take", "key", key, "lease", "PT1M")).doesNotMatch("\\d+");
        ask("close", "token", token);
        awaitToken(key, "PT1M"); // the lock knows that its transaction has ended
    }

    @Test
    void theBackendIsTerminatedAtTheCommitOfAGrant() throws Exception {
        heal();
        String answer = ask("take", "key", "kill-" + key, "lease", "PT10M");
        System.out.println("XA grant, backend terminated: " + answer);
        assertThat(first(DATABASE, "select count(*) from outbox_lock where key = 'kill-" + key + "'"))
                .isEqualTo("0");
        assertThat(answer).doesNotMatch("\\d+");
    }

    @Test
    void theBackendIsTerminatedAtTheCommitOfAWrite() throws Exception {
        heal();
        String token = awaitToken(key, "PT10M");

        String answer = ask("write", "key", "killeffect-" + key, "token", token);
        System.out.println("XA write, other key: " + answer);
        assertThat(answer).isNotEqualTo("done");
        assertThat(first(DATABASE, "select count(*) from locked_effect where key like 'killeffect%'"))
                .isEqualTo("0");
    }

    @Test
    void twoDatabasesInAQuietWorld() throws Exception {
        heal();
        assertThat(two()).isEqualTo("done");
        assertThat(first("hunt_xa_other", "select count(*) from other_effect where key = '" + key + "'"))
                .isEqualTo("1");
        awaitToken(key, "PT1M");
    }

    /** The branch of the lock stays prepared: nobody else may be granted the key until it has ended. */
    @Test
    void theLineBreaksBeforeTheSecondPhase() throws Exception {
        heal();
        line.arm(Cut.BEFORE, "COMMIT PREPARED");
        String answer = two();
        boolean cut = line.isDone();
        String inDoubt = first(DATABASE, "select count(*) from pg_prepared_xacts where database = '" + DATABASE + "'");
        System.out.println("XA 2PC, cut before the second phase: " + answer + " done " + cut + ", in doubt " + inDoubt
                + ", other effects " + first("hunt_xa_other", "select count(*) from other_effect where key = '" + key + "'"));
        assertThat(cut).isTrue();
        String next = ask("take", "key", key, "lease", "PT1M");
        System.out.println("XA 2PC, next grant while in doubt: " + next + ", effects "
                + first(DATABASE, "select count(*) from locked_effect where key = '" + key + "'"));
        if (inDoubt.equals("1")) {
            String still = first(DATABASE, "select count(*) from pg_prepared_xacts where database = '" + DATABASE + "'");
            assertThat(next.matches("\\d+") && still.equals("1")).as("granted while in doubt").isFalse();
        }
        finishPrepared();
        awaitToken(key, "PT1M");
    }

    @Test
    void theLineBreaksAfterThePreparation() throws Exception {
        heal();
        line.arm(Cut.AFTER, "PREPARE TRANSACTION");
        String answer = two();
        System.out.println("XA 2PC, answer of the preparation lost: " + answer + " done " + line.isDone() + ", in doubt "
                + first(DATABASE, "select count(*) from pg_prepared_xacts where database = '" + DATABASE + "'")
                + ", other effects " + first("hunt_xa_other", "select count(*) from other_effect where key = '" + key + "'"));
        assertThat(answer).isNotEqualTo("done");
        String next = ask("take", "key", key, "lease", "PT1M");
        System.out.println("XA 2PC, next grant: " + next);
        finishPrepared();
        awaitToken(key, "PT1M");
    }

    /** The fence ends with its transaction. What is written then must not be committed. */
    @Test
    void aHolderWhoseTransactionTimesOut() throws Exception {
        heal();
        String answer = hunt("late");
        System.out.println("XA timeout: " + answer);
        assertThat(first(DATABASE, "select count(*) from locked_effect where key = '" + key + "'"))
                .isEqualTo("0");
        assertThat(answer).doesNotContain(", committed");
    }

    @Test
    void aHolderWhoseTransactionTimesOutGivesTheKeyBack() throws Exception {
        heal();
        String answer = hunt("late-close");
        System.out.println("XA timeout, closed: " + answer);
        awaitToken(key, "PT1M");
    }

    @Test
    void aHolderWhoseTransactionTimesOutAndWhoKeepsItsConnection() throws Exception {
        heal();
        String answer = hunt("late-kept");
        System.out.println("XA timeout, connection kept: " + answer);
        assertThat(first(DATABASE, "select count(*) from locked_effect where key = '" + key + "'"))
                .isEqualTo("0");
        assertThat(answer).doesNotContain(", committed");
    }

    private static void finishPrepared() throws Exception {
        try (Connection connection = TestDatabase.server().connect(DATABASE);
                Statement statement = connection.createStatement()) {
            java.util.List<String> gids = new java.util.ArrayList<>();
            try (ResultSet rows = statement.executeQuery(
                    "select gid from pg_prepared_xacts where database = '" + DATABASE + "'")) {
                while (rows.next()) {
                    gids.add(rows.getString(1));
                }
            }
            for (String gid : gids) {
                try {
                    statement.execute("rollback prepared '" + gid + "'");
                } catch (java.sql.SQLException e) {
                    System.out.println("XA recovery was faster: " + e.getMessage());
                }
            }
        }
    }
}
