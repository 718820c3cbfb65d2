package dev.twinbox.inbox.engine;

import static dev.twinbox.inbox.engine.Instance.record;
import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.event.UnknownType;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * An event is parked, and fewer attempts are configured then. Its error was replaced by the remark that the process had
 * ended.
 */
class Fault71FewerAttemptsIT {

    private static Database database;

    private final List<String> calls = new ArrayList<>();

    @BeforeAll
    static void create() {
        database = new Database("fault71");
    }

    @BeforeEach
    void clear() {
        database.execute("truncate inbox_event, inbox_parked, inbox_handler");
    }

    private String errorAfter(String change) throws SQLException {
        Instance instance = new Instance(database, calls, UnknownType.SKIP, "one:v1");
        instance.announcements.announce();
        instance.receive(record(0, "v1", "a", "k", "a fail"));
        database.execute("update inbox_parked set next_try_at = clock_timestamp(), " + change);
        calls.clear();
        instance.retryAll();

        assertThat(calls).as("calls without an attempt left").isEmpty();
        assertThat(database.texts("select state from inbox_parked")).containsExactly("dead");
        return database.texts("select error from inbox_parked").get(0);
    }

    @Test
    void theErrorOfTheHandlerStays() throws SQLException {
        assertThat(errorAfter("attempts = 7"))
                .contains("7 attempts were made, but twinbox.inbox.parked.attempts is 3 now")
                .contains("as the event says")
                .doesNotContain("the process ended");
    }

    /** The limit is 3. */
    @Test
    void anAttemptWhoseResultWasNeverStoredKeepsTheErrorOfTheOneBefore() throws SQLException {
        assertThat(errorAfter("attempts = 3"))
                .contains("the process ended during attempt 3", "Earlier error: ", "as the event says");
    }

    @Test
    void whatCouldNotBeStoredOfTheRecordIsStillSaid() throws SQLException {
        assertThat(errorAfter("attempts = 7, error = 'first [not stored: the time]'"))
                .endsWith("first [not stored: the time]")
                .containsOnlyOnce("[not stored: ");
    }
}
