package dev.twinbox.inbox.engine;

import static dev.twinbox.inbox.engine.Instance.record;
import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.inbox.jdbc.HandOver;
import dev.twinbox.inbox.jdbc.HandlerTable;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Fault 41: a handler was renamed while events of the old name were parked. They were never taken again, and nothing
 * said so.
 */
class Fault41RenamedHandlerIT {

    private static Database database;

    private final List<String> calls = new ArrayList<>();

    @BeforeAll
    static void create() {
        database = new Database("fault41");
    }

    @BeforeEach
    void clear() {
        database.execute("truncate inbox_event, inbox_parked, inbox_handler");
    }

    private Instance instance(String... handlers) throws SQLException {
        Instance instance = new Instance(database, calls, UnknownType.SKIP, handlers);
        instance.announcements.announce();
        return instance;
    }

    /** Three events of the old name, two of one key. The old name's instance has gone. */
    private void parkUnderTheOldName() throws SQLException {
        Instance before = instance("old:order");
        before.receive(record(0, "order", "a", "k", "a fail"), record(1, "order", "b", "k", "b"));
        before.receive(record(2, "order", "c", null, "c fail"));
        assertThat(database.count("inbox_parked where handler = 'old'")).isEqualTo(3);
        database.execute("update inbox_handler set seen_at = clock_timestamp() - interval '2 minutes'");
        calls.clear();
    }

    @Test
    void aNoteNamesHandlerCountAndRemedyUntilTheEventsAreHandedOver() throws SQLException {
        parkUnderTheOldName();
        Instance after = instance("new:order");

        after.retryAll();

        assertThat(after.status.notes().values())
                .singleElement()
                .satisfies(note -> assertThat(note)
                        .contains("3 parked event(s) of handler old for type order on topic t")
                        .contains("no running instance has this handler (last seen at ")
                        .contains("parked hand-over --from old --to <new name>"));
        assertThat(after.status.troubles()).isEmpty();
        assertThat(calls).isEmpty();
    }

    @Test
    void theEventsAreHandedToTheNewNameInOrderOfTheirKeys() throws SQLException {
        parkUnderTheOldName();
        Instance after = instance("new:order");
        after.receive(record(3, "order", "d", "k", "d fail"), record(4, "order", "e", "k", "e"));
        database.execute("update inbox_parked set record_value = convert_to(split_part(convert_from(record_value,"
                + " 'UTF8'), ' ', 1), 'UTF8')"); // what made them fail is mended
        calls.clear();

        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            HandOver.Result result = new HandOver(Instance.INBOX).move(connection, Instance.GROUP, "old", "new");
            connection.commit();
            assertThat(result.moved()).isEqualTo(3);
            assertThat(result.left()).isZero();
        }
        after.retryAll();

        assertThat(calls)
                .containsSubsequence("new:a", "new:b", "new:d", "new:e")
                .contains("new:c")
                .hasSize(5);
        assertThat(database.count("inbox_parked")).isZero();
    }

    /** What both names have parked is one event; what the new name does not take stays and is counted. */
    @Test
    void anEventThatIsParkedUnderBothNamesHasOneEffectAndOtherTypesStay() throws SQLException {
        parkUnderTheOldName();
        instance("old:other", "new:order").receive(record(5, "other", "x", null, "x fail"));
        Instance after = instance("new:order");
        after.receive(record(0, "order", "a", "k", "a fail"));
        calls.clear();
        database.execute("update inbox_parked set record_value = convert_to('a', 'UTF8') where event_id = 'a'");

        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            HandOver.Result result = new HandOver(Instance.INBOX).move(connection, Instance.GROUP, "old", "new");
            connection.commit();
            assertThat(result.moved()).isEqualTo(3);
            assertThat(result.left()).as("of type other").isEqualTo(1);
        }
        after.retryAll();

        assertThat(calls.stream().filter("new:a"::equals)).hasSize(1);
        assertThat(database.count("inbox_parked where handler = 'old'")).isEqualTo(1);
    }

    @Test
    void whileAnotherInstanceHasTheNameNothingIsNoted() throws SQLException {
        Instance before = instance("old:order");
        before.receive(record(0, "order", "a", "k", "a fail"));
        Instance other = instance("new:order");

        other.retryAll();

        assertThat(other.status.notes()).isEmpty();
        try (Connection connection = database.connect()) {
            assertThat(HandlerTable.of(Instance.INBOX).unowned(connection, Instance.GROUP))
                    .isEmpty();
        }
    }
}
