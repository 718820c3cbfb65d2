package dev.twinbox.inbox.cli;

import static dev.twinbox.fixtures.ApiAttacks.OPERATOR;
import static dev.twinbox.fixtures.ApiAttacks.READER;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.twinbox.fixtures.Browser;
import dev.twinbox.fixtures.PostgresServer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The receiver's pages in a browser: a stuck key is seen, its cause is read, and its event is tried again. */
@Tag("proof")
class InboxPagesIT {
    private static final Path PICTURES = Path.of("..", "..", "docs", "how-to", "pictures");
    private static final String SECRET = "s3cr3t-payload";

    private static final PostgresServer POSTGRES = PostgresServer.create();

    @BeforeAll
    static void start() {
        assumeThat(Browser.missing()).isEmpty();
        POSTGRES.start();
    }

    @AfterAll
    static void stop() {
        POSTGRES.close();
    }

    @Test
    void aStuckKeyIsSeenItsCauseIsReadAndItIsRetried() throws Exception {
        park("inbox_pages_stuck", "key");
        try (ConsoleProcess console = start("inbox_pages_stuck");
                Browser browser = Browser.start()) {
            browser.open(page(console));
            browser.await("#role", "Without a token");
            browser.await("main", "Consumer groups");
            browser.click("main a", "See which keys are stuck");
            browser.await(".card", "Handler ship of group shipping: OrderException");
            browser.await(".card", "1 key with 3 events, 1 of them given up");
            browser.await(".card", "What helps:");
            picture(browser, "stuck-keys-of-a-receiver");

            browser.click(".card button", "Retry all of this cause");
            browser.type("#token", "a-wrong-token-0123");
            browser.click("#login-do", "Log in");
            browser.await("#login-problem", "token");
            browser.type("#token", OPERATOR);
            browser.click("#login-do", "Log in");
            browser.await("#ask", "Retry 1 event?");
            assertThat(states("inbox_pages_stuck"))
                    .as("nothing is done before the operator is sure")
                    .isEqualTo("dead behind behind");
            browser.click("#ask-do", "Retry 1 event");
            browser.await("#done", "1 event retried");
            browser.await("main", "No key is stuck");
            assertThat(states("inbox_pages_stuck")).isEqualTo("retry behind behind");

            browser.click("nav a", "Action log");
            browser.await("main table", "retry");
            browser.click("#enter", "Log out");
            browser.await("#role", "Without a token");
            assertThat(browser.errors()).isEmpty();
        }
    }

    @Test
    void eachPageFitsOnANarrowScreenAndMarkupOfEventsStaysText() throws Exception {
        String markup = "<img src=x onerror=alert(1)>" + "long".repeat(30);
        park("inbox_pages_narrow", markup);
        try (ConsoleProcess console = start("inbox_pages_narrow");
                Browser browser = Browser.start().withWidth(360)) {
            browser.open(page(console));
            browser.await("main", "Consumer groups");
            assertThat(browser.overflow()).as("overview").isLessThanOrEqualTo(0);
            for (String view : List.of("Stuck keys", "Search", "Action log")) {
                browser.click("nav a", view);
                browser.await("main h2", view);
                assertThat(browser.overflow()).as(view).isLessThanOrEqualTo(0);
            }
            browser.click("nav a", "Search");
            browser.click("main button", "List");
            browser.await("main table", markup);
            browser.click("main td a", "1");
            browser.await("main h2", "Parked event 1");
            browser.await("main", markup);
            assertThat(browser.overflow()).as("an event").isLessThanOrEqualTo(0);
            assertThat(browser.text()).doesNotContain(SECRET);
            browser.click("button[data-do=payload]", "Show the payload");
            browser.type("#token", READER);
            browser.click("#login-do", "Log in");
            browser.await("main pre", SECRET);
            assertThat(browser.errors()).isEmpty();
        }
    }

    private static ConsoleProcess start(String database) throws Exception {
        return ConsoleProcess.start(POSTGRES, database, POSTGRES.user(), Map.of());
    }

    private static URI page(ConsoleProcess console) {
        return console.uri("/console/");
    }

    /** Three events of one key: the first is given up, the others wait for it. */
    private static void park(String database, String key) throws SQLException {
        POSTGRES.createDatabase(database);
        int migrated = new CommandLine(new InboxCli())
                .execute(
                        "migrate",
                        "--url",
                        POSTGRES.jdbcUrl(database),
                        "--user",
                        POSTGRES.user(),
                        "--password=" + POSTGRES.password());
        assertThat(migrated).isZero();
        try (Connection connection = POSTGRES.connect(database);
                PreparedStatement insert = connection.prepareStatement("""
                        insert into inbox_parked (consumer_group, handler, event_id, event_type, claims, state, topic,
                                                  partition, record_offset, record_key, record_value, header_names,
                                                  header_values, attempts, error)
                        select 'shipping', 'ship', 'event-' || i, 'order.placed', true,
                               case i when 1 then 'dead' else 'behind' end, 'orders', 0, i, ?, ?::bytea, array[?::bytea],
                               array[?::bytea], 3, case i when 1 then 'OrderException: no stock for ' || ? end
                          from generate_series(1, 3) i""")) {
            insert.setBytes(1, key.getBytes(StandardCharsets.UTF_8));
            insert.setBytes(2, SECRET.getBytes(StandardCharsets.UTF_8));
            insert.setBytes(3, key.getBytes(StandardCharsets.UTF_8));
            insert.setBytes(4, key.getBytes(StandardCharsets.UTF_8));
            insert.setString(5, key);
            insert.executeUpdate();
        }
    }

    private static String states(String database) throws SQLException {
        try (Connection connection = POSTGRES.connect(database);
                Statement statement = connection.createStatement();
                ResultSet row =
                        statement.executeQuery("select string_agg(state, ' ' order by number) from inbox_parked")) {
            row.next();
            return row.getString(1);
        }
    }

    private static void picture(Browser browser, String name) {
        if (Boolean.getBoolean("twinbox.it.write-pictures")) {
            browser.picture(PICTURES.resolve(name + ".png"));
        }
    }
}
