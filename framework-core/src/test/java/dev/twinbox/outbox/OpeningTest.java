package dev.twinbox.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.SchemaException;
import dev.twinbox.TwinboxException;
import dev.twinbox.schema.OutboxSchema;
import dev.twinbox.thread.Supervisor;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The outbox opens as its database allows. The attempts themselves are tried on servers. */
class OpeningTest {

    private static final ChosenWay DIRECTLY = new ChosenWay(WriteWay.DIRECTLY, "it was tried");
    private static final OutboxConfiguration CONFIGURATION =
            new OutboxConfiguration("jdbc/orders", "/orders", new OutboxSchema(null, "outbox_event"), 1, 1, 1);

    /** What the next attempts do; the last one is repeated. */
    private final List<Opening.Attempt> attempts = new CopyOnWriteArrayList<>();

    private final List<Thread> threads = new CopyOnWriteArrayList<>();
    private final ThreadFactory factory = task -> {
        Thread thread = Supervisor.DAEMONS.newThread(task);
        threads.add(thread);
        return thread;
    };
    private final Opening opening = new Opening(this::next, () -> factory, CONFIGURATION, Duration.ofMillis(10));

    @AfterEach
    void stop() {
        opening.stop();
    }

    private ChosenWay next() throws SQLException {
        return (attempts.size() == 1 ? attempts.get(0) : attempts.remove(0)).open();
    }

    private static ChosenWay away() throws SQLException {
        throw new SQLException("nobody answers", "08001");
    }

    private static ChosenWay noTable() {
        throw new SchemaException("no table");
    }

    @Test
    void theWayOfTheFirstAttemptIsTheWay() {
        attempts.add(() -> DIRECTLY);

        opening.start();

        assertThat(opening.way()).isEqualTo(WriteWay.DIRECTLY);
        assertThat(opening.chosen()).isEqualTo(DIRECTLY);
        assertThat(threads).isEmpty();
    }

    @Test
    void aBeanThatPublishesBeforeTheStartMakesTheFirstAttempt() {
        attempts.add(() -> DIRECTLY);

        assertThat(opening.way()).isEqualTo(WriteWay.DIRECTLY);
    }

    @Test
    void nothingIsGuessedWhileTheDatabaseIsAway() {
        attempts.add(OpeningTest::away);

        opening.start();

        assertThatThrownBy(opening::way)
                .isInstanceOf(TwinboxException.class)
                .hasMessageContaining("The outbox is not open")
                .hasMessageContaining("(data source jdbc/orders): nobody answers");
        assertThat(opening.chosen()).isNull();
        assertThat(opening.trouble()).contains("nobody answers");
    }

    @Test
    void theOutboxOpensWhenTheDatabaseIsBack() {
        attempts.add(OpeningTest::away);
        attempts.add(OpeningTest::away);
        attempts.add(() -> DIRECTLY);

        opening.start();

        await().atMost(Duration.ofSeconds(30)).until(() -> opening.chosen() != null);
        assertThat(opening.way()).isEqualTo(WriteWay.DIRECTLY);
        await().atMost(Duration.ofSeconds(30)).until(() -> !threads.get(0).isAlive());
        assertThat(threads).hasSize(1);
    }

    @Test
    void aMistakeAtTheStartIsThrown() {
        attempts.add(OpeningTest::noTable);

        assertThatThrownBy(opening::start).isInstanceOf(SchemaException.class);
        assertThat(threads).isEmpty();
    }

    @Test
    void aMistakeThatShowsAfterAnOutageIsWaitedFor() {
        attempts.add(OpeningTest::away);
        attempts.add(OpeningTest::noTable);

        opening.start();

        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(opening.trouble()).isEqualTo("no table"));
        assertThatThrownBy(opening::way).hasMessageContaining("no table");

        attempts.add(() -> DIRECTLY);

        await().atMost(Duration.ofSeconds(30)).until(() -> opening.chosen() != null);
    }

    @Test
    void theThreadThatWaitsEndsWithTheApplication() throws Exception {
        attempts.add(OpeningTest::away);
        opening.start();
        Thread thread = threads.get(0);
        assertThat(thread.isAlive()).isTrue();

        opening.stop();

        thread.join(Duration.ofSeconds(30).toMillis());
        assertThat(thread.isAlive()).isFalse();
    }
}
