package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.Browser;
import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.relay.engine.EngineRig;
import dev.twinbox.relay.engine.Scenario24TooLargeIT;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The relay's pages in a browser: a stuck key is seen, its cause is read, and it is freed. */
@Tag("proof")
class RelayPagesIT {
    private static final Duration SOON = Duration.ofSeconds(90);
    private static final String OPERATOR = "operator-token-0123456789";
    private static final Path PICTURES = Path.of("..", "docs", "how-to", "pictures");

    @BeforeAll
    static void aBrowserIsThere() {
        assumeThat(Browser.missing()).isEmpty();
    }

    @Test
    void aStuckKeyIsSeenItsCauseIsReadAndItIsFreedInOrder() throws Exception {
        try (RelayRig rig = RelayRig.create();
                Browser browser = Browser.start()) {
            EngineRig.setTopic(rig.topic(), "max.message.bytes", "5000");
            RelayProcess relay = rig.startRelay(Map.of("twinbox.relay.http.operator-token", OPERATOR));
            insert(rig, "k1", Scenario24TooLargeIT.incompressible(20_000));
            insert(rig, "k1", "second");
            insert(rig, "k1", "third");
            await("parked").atMost(SOON).until(() -> rig.count("select count(*) from outbox_parked") == 3);

            browser.open(page(relay));
            browser.await("#role", "Without a token");
            browser.click("main a", "See which keys are stuck");
            browser.await(".card", "The event is too large for the topic");
            browser.await(".card", "1 key with 3 events, 1 of them given up");
            browser.await(".card", "Raise max.message.bytes");
            picture(browser, "stuck-keys");
            EngineRig.setTopic(rig.topic(), "max.message.bytes", "1000000");

            browser.click(".card button", "Retry all of this cause");
            browser.type("#token", "a-wrong-token-0123");
            browser.click("#login-do", "Log in");
            browser.await("#login-problem", "token");
            browser.type("#token", OPERATOR);
            browser.click("#login-do", "Log in");
            browser.await("#ask", "Retry 1 event?");
            browser.click("#ask-do", "Retry 1 event");
            browser.await("#done", "1 event retried");
            browser.await("main", "No key is stuck");
            await("sent").atMost(SOON).until(() -> rig.count("select count(*) from outbox_parked") == 0);
            assertThat(rig.records().stream()
                            .map(record -> record.value().length > 1_000
                                    ? "first"
                                    : new String(record.value(), StandardCharsets.UTF_8)))
                    .as("on Kafka, in order")
                    .containsExactly("first", "second", "third");

            browser.click("nav a", "Action log");
            browser.await("main table", "cause \"too-large\"");
            browser.await("#role", "Operator");
            browser.click("#enter", "Log out");
            browser.await("#role", "Without a token");
            assertThat(browser.errors()).isEmpty();
            assertThat(relay.terminate()).as(relay.log()).isZero();
        }
    }

    @Test
    void aTopicIsPausedAndResumedByTheButtons() throws Exception {
        try (RelayRig rig = RelayRig.create();
                Browser browser = Browser.start()) {
            RelayProcess relay = rig.startRelay(Map.of("twinbox.relay.http.operator-token", OPERATOR));
            browser.open(page(relay));
            browser.await("main", "No topic is paused");
            browser.type("#pause-topic", rig.topic());
            browser.click("main form button", "Pause topic");
            browser.await("#ask", "Pause topic " + rig.topic() + "?");
            browser.click("#ask-do", "Pause topic");
            browser.type("#token", OPERATOR);
            browser.click("#login-do", "Log in");
            browser.await("#done", "Topic " + rig.topic() + " is paused");
            browser.await("main table", rig.topic());
            await("obeyed").atMost(SOON).until(() -> relay.log().contains("\" is paused since "));
            insert(rig, "k1", "first");
            await("parked").atMost(SOON).until(() -> rig.count("select count(*) from outbox_parked") == 1);

            browser.click("nav a", "Stuck keys");
            browser.await(".card", "The topic is paused");
            browser.click(".card button", "Resume the topic");
            browser.await("#done", "Topic " + rig.topic() + " is resumed");
            browser.await("main", "No key is stuck");
            rig.awaitRecords(1);
            assertThat(browser.errors()).isEmpty();
            assertThat(relay.terminate()).as(relay.log()).isZero();
        }
    }

    @Test
    void eachPageFitsOnANarrowScreenAndMarkupOfEventsStaysText() throws Exception {
        try (RelayRig rig = RelayRig.create();
                Browser browser = Browser.start().withWidth(360)) {
            EngineRig.setTopic(rig.topic(), "max.message.bytes", "5000");
            RelayProcess relay = rig.startRelay(Map.of("twinbox.relay.http.operator-token", OPERATOR));
            String markup = "<img src=x onerror=alert(1)>" + "long".repeat(30);
            insert(rig, markup, Scenario24TooLargeIT.incompressible(20_000));
            await("parked").atMost(SOON).until(() -> rig.count("select count(*) from outbox_parked") == 1);

            browser.open(page(relay));
            browser.await("main", "Slots of the event table");
            assertThat(browser.overflow()).as("overview").isLessThanOrEqualTo(0);
            picture(browser, "overview-narrow");
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
            browser.click("button[data-do=payload]", "Show the payload");
            browser.await("#login", "reader");
            assertThat(browser.errors()).isEmpty();
            assertThat(relay.terminate()).as(relay.log()).isZero();
        }
    }

    private static URI page(RelayProcess relay) {
        return relay.uri("/console/");
    }

    private static void picture(Browser browser, String name) {
        if (Boolean.getBoolean("twinbox.it.write-pictures")) {
            browser.picture(PICTURES.resolve(name + ".png"));
        }
    }

    private static void insert(RelayRig rig, String key, String payload) throws SQLException {
        try (Connection connection = rig.connect()) {
            OutboxDatabaseFixture.insert(connection, rig.topic(), key, payload.getBytes(StandardCharsets.UTF_8));
        }
    }
}
