package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two instances of an application get one event at the same time, and its handler is guarded. */
@Tag("proof")
class GuardedHandlersIT {

    private static GuardedPair pair;
    private static Database database;

    @BeforeAll
    static void deployTwo() {
        pair = new GuardedPair("guarded", app -> app);
        database = pair.database();
    }

    @AfterAll
    static void undeploy() {
        pair.close();
    }

    @ParameterizedTest
    @CsvSource({"order, guarded, 121, 1", "note, guarded-repeating, 122, 2"})
    void theSecondWaitsWithoutAnAttemptAndWithoutALockInTheDatabase(
            String type, String handler, int number, int effects) {
        String id = Topics.id();
        try (Database.Gate gate = database.shutGate(number)) {
            pair.sendToBoth(id, type, number);
            pair.awaitRefusalsByTheDatabase();

            assertThat(database.count("inbox_lock")).isEqualTo(1);
            assertThat(database.calls(handler, id)).isEqualTo(1);
            assertThat(pair.waitingForAClaim()).isZero();
            assertThat(database.count("inbox_parked")).isZero();
        }
        String free = pair.sendFree(0, type);
        pair.awaitHandled();

        // A handler without an inbox row is called again afterwards; the guard only keeps the calls apart.
        assertThat(pair.effects(handler, id)).isEqualTo(effects);
        assertThat(database.effects(handler)).contains(free);
        assertThat(database.count("inbox_parked")).isZero();
    }

    /** Each of ten events that come in one batch has its own transaction. */
    @Test
    void eachEventHasATransactionOfItsOwn() {
        database.execute("alter table effect add column if not exists tx xid8 default pg_current_xact_id()");
        String[] ids = Stream.generate(Topics::id).limit(10).toArray(String[]::new);
        pair.sendFreeTogether(ids);
        pair.awaitHandled();

        assertThat(database.count(
                        "(select distinct tx from effect where event_id = any (?)) as transactions", (Object) ids))
                .isEqualTo(10);
    }

    @Test
    void theLocksTableIsMissingAndHandlersGoOn() {
        String id;
        database.execute("alter table inbox_lock rename to inbox_lock_away");
        try {
            id = pair.sendFree(0, "order");
            pair.awaitHandled();
        } finally {
            database.execute("alter table inbox_lock_away rename to inbox_lock");
        }
        String next = pair.sendFree(0, "order");
        pair.awaitHandled();

        assertThat(database.effects("guarded")).contains(id, next);
    }

    /** As if another session had the lock's row for ever: no lock is ever granted. */
    @Test
    void fault100AnEventDoesNotWaitAtItsGuardForEver() {
        database.execute("create function nobody() returns trigger language plpgsql as 'begin return null; end';"
                + "create trigger nobody before insert on inbox_lock for each row execute function nobody()");
        String id;
        try {
            id = pair.sendFree(0, "order");
            pair.awaitHandled();
        } finally {
            database.execute("drop trigger nobody on inbox_lock; drop function nobody()");
        }

        assertThat(database.effects("guarded")).contains(id);
        assertThat(Servers.payara().log()).contains("The guard of handler guarded has kept ");
    }

    /** For DDL, for example. It is no holder of the event. */
    @Test
    void fault89TheLocksTableIsHeldByAnotherSessionAndHandlersGoOn() throws SQLException {
        try (Connection operator = database.connect();
                Statement statement = operator.createStatement()) {
            operator.setAutoCommit(false);
            statement.execute("lock table inbox_lock in access exclusive mode");
            String id = pair.sendFree(0, "order");
            pair.awaitHandled();

            assertThat(database.effects("guarded")).contains(id);
        }
    }
}
