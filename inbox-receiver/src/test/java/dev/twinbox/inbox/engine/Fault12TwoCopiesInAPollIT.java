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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Fault 12: one id twice in a poll, once under a key that is held, once without a key or under a free one. The event was
 * claimed and parked, so it had no effect, and nothing said so.
 */
class Fault12TwoCopiesInAPollIT {

    private static Database database;

    private final List<String> calls = new ArrayList<>();

    @BeforeAll
    static void create() {
        database = new Database("fault12");
    }

    @BeforeEach
    void clear() {
        database.execute("truncate inbox_event, inbox_parked");
    }

    /** A free key of "-" stands for none. The handler's name chooses the contract. */
    @ParameterizedTest
    @CsvSource({"once,-", "once,free", "repeating,-", "repeating,free"})
    void theKeyedCopyThatCameFirstWaitsForItsKey(String handler, String otherKey) throws SQLException {
        Instance instance = new Instance(database, calls, UnknownType.SKIP, handler + ":order");
        instance.receive(record(0, "order", "earlier", "held", "earlier fail"));
        assertThat(database.count("inbox_parked")).isEqualTo(1);
        calls.clear();

        instance.receive(
                record(1, "order", "x", "held", "copy-1"),
                record(2, "order", "x", otherKey.equals("-") ? null : otherKey, "copy-2"),
                record(3, "order", "y", null, "neighbour"));
        settleEarlier();
        instance.retryAll();

        assertThat(database.count("inbox_parked")).as("nothing is left").isZero();
        if (handler.equals("once")) {
            assertThat(calls).containsExactly("once:neighbour", "once:copy-1");
        } else {
            assertThat(calls).contains("repeating:neighbour", "repeating:copy-1");
        }
    }

    @ParameterizedTest
    @CsvSource({"once,-", "once,free", "repeating,-", "repeating,free"})
    void theFreeCopyThatCameFirstIsHandledAtOnce(String handler, String otherKey) throws SQLException {
        Instance instance = new Instance(database, calls, UnknownType.SKIP, handler + ":order");
        instance.receive(record(0, "order", "earlier", "held", "earlier fail"));
        calls.clear();

        instance.receive(
                record(1, "order", "x", otherKey.equals("-") ? null : otherKey, "copy-1"),
                record(2, "order", "x", "held", "copy-2"),
                record(3, "order", "y", null, "neighbour"));

        assertThat(calls).startsWith(handler + ":copy-1").contains(handler + ":neighbour");
        settleEarlier();
        instance.retryAll();
        assertThat(database.count("inbox_parked")).as("nothing is left").isZero();
        if (handler.equals("once")) {
            assertThat(calls).containsExactly("once:copy-1", "once:neighbour");
        }
    }

    /** The event that holds the key is given up, as by an operator. */
    private static void settleEarlier() {
        database.execute("delete from inbox_parked where event_id = 'earlier'");
        database.execute("""
                update inbox_parked p set state = 'retry', next_try_at = clock_timestamp()
                 where state = 'behind'""");
    }
}
