package dev.twinbox.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.PayaraMicro;
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

/** Attacks on locks in a container. Each asserts what the docs promise; what is red fell. */
@Tag("proof")
class HuntMPayaraIT {

    private static final String DATABASE = "huntm_payara";
    private static final AtomicInteger KEYS = new AtomicInteger();

    private static PayaraMicro payara;

    private final String key = "key-" + KEYS.incrementAndGet();

    @BeforeAll
    static void deploy() throws Exception {
        LockWars.createDatabase(DATABASE);
        TestDatabase.server().createDatabase("huntm_other");
        execute("huntm_other", "create table effect (holder text not null)");
        execute(DATABASE, "create role huntm_little login password 'twinbox'; grant usage on schema public to huntm_little;"
                + "grant select, insert, update, delete on outbox_lock to huntm_little; grant all on locked_effect to huntm_little;"
                + "grant usage on sequence outbox_lock_token to huntm_little");
        payara = LockWars.server(List.of(
                war("plain", "postgres", 20).addClass(HuntMStart.class),
                war("little", "huntm_little", 4),
                TestWar.named("last", "").addClass(StateServlet.class)));
        payara.awaitHttp("/last/state", Duration.ofMinutes(6));
    }

    private static WebArchive war(String name, String user, int pool) {
        return TestWar.named(name, LockWars.DATA_SOURCE)
                .addClasses(HuntMServlet.class, HuntMBean.class, HuntMInner.class, HuntMObserver.class, HuntMObserver.Ended.class)
                .addClass(StateServlet.class)
                .setWebXML(new StringAsset("""
                        <web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0">
                          %s %s
                        </web-app>
                        """.formatted(source("locks", DATABASE, user, pool), source("other", "huntm_other", "postgres", 5))));
    }

    private static String source(String name, String database, String user, int pool) {
        return """
                <data-source>
                  <name>java:app/jdbc/%s</name>
                  <class-name>org.postgresql.xa.PGXADataSource</class-name>
                  <url>%s</url>
                  <user>%s</user>
                  <password>twinbox</password>
                  <max-pool-size>%d</max-pool-size>
                </data-source>
                """.formatted(name, TestDatabase.server().jdbcUrl(database), user, pool);
    }

    @AfterAll
    static void stop() {
        if (payara != null) {
            payara.kill();
        }
    }

    @Test
    void p01_locksInAnObserverAfterCompletion() throws Exception {
        String seen = ask("plain", "after");
        say("P01", seen);
        assertThat(seen).startsWith("granted true, extended Optional[true], after close true");
    }

    @Test
    void p02_aTransactionScopedBeanClosesItsLock() throws Exception {
        String seen = ask("plain", "scoped");
        say("P02", seen + " " + linesWith("could not be given back"));
        assertThat(seen).startsWith("true, then free");
    }

    @Test
    void p03_theTransactionsTimeIsOverWhileItsFenceWaits() throws Exception {
        String seen = ask("plain", "timeout");
        say("P03", seen);
        assertThat(seen).doesNotContain("COMMITTED").contains("after close free");
    }

    @Test
    void p04_theManagedExecutorIsBusy() throws Exception {
        String seen = ask("plain", "saturated");
        say("P04", seen);
        assertThat(seen).startsWith("free");
    }

    @Test
    void p05_refusedFencesLeakNoConnection() throws Exception {
        String seen = ask("little", "leak");
        say("P05", seen);
        assertThat(seen).contains("then free");
    }

    @Test
    void p06_theRemedyOfAFailedTryLock() throws Exception {
        assertThat(ask("little", "try")).startsWith("granted");
        execute(DATABASE, "revoke insert on outbox_lock from huntm_little");
        String forbidden = LockWars.ask(payara, "little", "try", "key", key + " forbidden");
        execute(DATABASE, "grant insert on outbox_lock to huntm_little; alter role huntm_little set default_transaction_read_only = on;"
                + "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'huntm_little'");
        String readOnly = LockWars.ask(payara, "little", "try", "key", key + " read-only");
        readOnly = LockWars.ask(payara, "little", "try", "key", key + " read-only 2");
        execute(DATABASE, "alter role huntm_little reset default_transaction_read_only;"
                + "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'huntm_little'");
        for (int i = 0; i < 8; i++) {
            LockWars.ask(payara, "little", "try", "key", key + " again " + i);
        }
        say("P06", "forbidden: " + forbidden + " READ-ONLY: " + readOnly);
        assertThat(forbidden).contains("permission denied").doesNotContain("Try again when the database works");
        assertThat(readOnly).contains("read-only").doesNotContain("Try again when the database works");
    }

    @Test
    void p07_aThreadOutlivesTheApplication() throws Exception {
        say("P07", ask("plain", "outlive"));
        // The server ends with the class; this only sees a close while all is well.
        Thread.sleep(27_000);
        say("P07", linesWith("HUNTM-OUTLIVE"));
        assertThat(linesWith("HUNTM-OUTLIVE")).anyMatch(line -> line.contains("without a throw"));
    }

    @Test
    void p08_inATransactionThatIsMarked() throws Exception {
        String seen = ask("plain", "rollback");
        say("P08", seen);
        assertThat(seen).startsWith("granted").contains("TransactionalException").contains("afterwards false");
    }

    @Test
    void p09_twoDatabasesInOneTransaction() throws Exception {
        String seen = ask("plain", "two");
        String here = one(DATABASE, "select string_agg(key, ',' order by number) from locked_effect where key like '" + key + " %'");
        String there = one("huntm_other", "select string_agg(holder, ',' order by holder) from effect where holder like '" + key + " %'");
        say("P09", seen + "; here " + here + ", there " + there);
        assertThat(here).isEqualTo(key + " first," + key + " second");
        assertThat(there).isEqualTo(key + " first," + key + " second");
    }

    @Test
    void p10_closeMeetsAHeartbeat() throws Exception {
        String seen = ask("plain", "heartbeat");
        say("P10", seen + " " + linesWith("could not be given back"));
        assertThat(seen).startsWith("0 of");
    }

    @Test
    void p11_extendInTheFencedTransactionThenClose() throws Exception {
        String seen = ask("plain", "extend");
        say("P11", seen + " " + linesWith("could not be given back"));
        assertThat(seen).startsWith("0 of");
    }

    @Test
    void p12_anInterruptedThread() throws Exception {
        String seen = ask("plain", "interrupted");
        say("P12", seen);
        assertThat(seen).startsWith("true, flag true, then true");
    }

    @Test
    void p13_aLockWhileTheApplicationStarts() {
        say("P13", linesWith("HUNTM-START"));
        assertThat(linesWith("HUNTM-START granted true")).isNotEmpty();
    }

    private static List<String> linesWith(String part) {
        return payara.log().lines().filter(line -> line.contains(part)).limit(6).toList();
    }

    private String ask(String application, String action) throws Exception {
        return LockWars.ask(payara, application, action, "key", key);
    }

    private static void execute(String database, String sql) throws Exception {
        try (Connection connection = TestDatabase.server().connect(database);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String one(String database, String query) throws Exception {
        try (Connection connection = TestDatabase.server().connect(database);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            return row.next() ? row.getString(1) : null;
        }
    }

    private static void say(String attack, Object what) {
        System.out.println("HUNTM " + attack + ": " + String.valueOf(what).replace('\n', ' '));
    }
}
