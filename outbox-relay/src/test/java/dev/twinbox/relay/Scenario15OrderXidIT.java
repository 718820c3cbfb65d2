package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * ORDER-XID: transactions draw their ids in the order of their first write, not in the order in which they change a
 * key. The core draws {@code seq} while the business locks are held. So each session here inserts its event after it
 * has changed the aggregate, as the drain does.
 */
class Scenario15OrderXidIT {
    private static final String KEY = "K";

    private RelayRig rig;
    private Connection first;
    private Connection second;

    @BeforeEach
    void createAnAggregate() throws SQLException {
        rig = RelayRig.create();
        first = rig.connect();
        second = rig.connect();
        execute(first, "create table aggregate (name text primary key, version int not null)");
        execute(first, "create table unrelated (text text)");
        execute(first, "insert into aggregate values ('" + KEY + "', 0)");
        first.setAutoCommit(false);
        second.setAutoCommit(false);
    }

    @AfterEach
    void close() throws SQLException {
        first.close();
        second.close();
        rig.close();
    }

    @Test
    void aTransactionThatHasAnIdEarlyAndChangesTheKeyLateComesSecond() throws SQLException {
        execute(first, "insert into unrelated values ('draws the lower transaction id')");
        UUID e1 = change(second);
        second.commit();
        UUID e2 = change(first);
        first.commit();

        assertOrder(List.of(e1, e2));
    }

    /**
     * The relay has seen the earlier transaction in progress, so it reads its rows by the other branch of the window.
     */
    @Test
    void soItDoesWhenTheRelayRunsMeanwhile() throws SQLException {
        rig.startRelay(Map.of());
        execute(first, "insert into unrelated values ('draws the lower transaction id')");
        UUID e1 = change(second);
        second.commit();
        rig.awaitRecords(1);
        UUID e2 = change(first);
        first.commit();

        rig.assertExact();
        assertThat(rig.firstAppearances()).containsExactly(e1.toString(), e2.toString());
    }

    @Test
    void aTransactionThatWaitedForTheKeysLockComesSecond() throws Exception {
        execute(first, "insert into unrelated values ('draws the lower transaction id')");
        UUID e1 = change(second);
        CompletableFuture<UUID> waiting = CompletableFuture.supplyAsync(() -> {
            try {
                UUID event = change(first);
                first.commit();
                return event;
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
        await("the first session waits for the second one's row")
                .until(() -> rig.count("select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                                + " and datname = current_database()")
                        == 1);
        second.commit();

        assertOrder(List.of(e1, waiting.get()));
    }

    @Test
    void aThousandEventsOfOneKeyAtOneTimeKeepTheOrderOfEmission() throws SQLException {
        List<UUID> events = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            events.add(rig.insert(first, KEY));
        }
        execute(first, "update " + rig.tables().events() + " set occurred_at = now()");
        first.commit();

        assertOrder(events);
    }

    private void assertOrder(List<UUID> events) throws SQLException {
        RelayProcess relay = rig.startRelay(Map.of());
        rig.assertExact();
        assertThat(rig.firstAppearances())
                .containsExactlyElementsOf(events.stream().map(UUID::toString).toList());
        assertThat(relay.terminate()).isZero();
    }

    private UUID change(Connection session) throws SQLException {
        execute(session, "update aggregate set version = version + 1 where name = '" + KEY + "'");
        return rig.insert(session, KEY);
    }

    private static void execute(Connection session, String sql) throws SQLException {
        try (Statement statement = session.createStatement()) {
            statement.execute(sql);
        }
    }
}
