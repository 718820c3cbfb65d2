package dev.twinbox.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.annotation.Resource;
import jakarta.enterprise.concurrent.ManagedThreadFactory;
import jakarta.inject.Inject;
import jakarta.transaction.Synchronization;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The producer's side of scenario 34 (SCHEMA), in an application without JPA. The schema is {@code Sales-EU 1}, the
 * table {@code Out"Box}, and public is not in the search path. The role may insert into the table and use its sequence,
 * nothing else.
 */
@Tag("proof")
@ExtendWith(ArquillianExtension.class)
public class Scenario34SchemaIT {

    private static final String URL = "twinbox.it.least.url";
    private static final int CONNECTIONS = 16;

    @Inject
    Effects effects;

    @Inject
    Transactions transactions;

    @Resource(lookup = "java:comp/TransactionSynchronizationRegistry")
    TransactionSynchronizationRegistry registry;

    @Resource(lookup = "java:comp/DefaultManagedThreadFactory")
    ManagedThreadFactory threads;

    private final AtomicInteger locksBeforeRollback = new AtomicInteger();
    private final long id = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);

    @Deployment
    public static WebArchive application() {
        return TestWar.named("schema", """
                        twinbox.outbox.data-source=java:app/jdbc/least
                        twinbox.outbox.source=/tests/schema
                        twinbox.outbox.schema=Sales-EU 1
                        twinbox.outbox.table=Out"B'o x
                        """)
                .addClasses(
                        AccountChanged.class,
                        Effects.class,
                        PlainTextSerializer.class,
                        Transactions.class,
                        Transactions.Work.class,
                        Committed.class,
                        TestWar.class);
    }

    @Test
    void scenario34SCHEMAAnEventGoesToTheConfiguredQuotedTable() throws Exception {
        effects.insert(id);

        assertThat(events(id)).isEqualTo(1);
        assertThat(effectRows(id)).isEqualTo(1);
    }

    @Test
    void scenario34SCHEMANoTableIsCreatedElsewhere() throws Exception {
        effects.insert(id);

        assertThat(Committed.column(URL, """
                        select distinct n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace
                         where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' order by 1
                        """)).containsExactly("Sales-EU 1", "business");
    }

    @Test
    void scenario34SCHEMATheRoleMayInsertAndNothingElse() throws Exception {
        for (String forbidden : new String[] {
            "select from \"Sales-EU 1\".\"Out\"\"B'o x\"",
            "update \"Sales-EU 1\".\"Out\"\"B'o x\" set topic = 'x'",
            "delete from \"Sales-EU 1\".\"Out\"\"B'o x\"",
            "select from \"Sales-EU 1\".\"Out\"\"B'o x_slot0\"",
            "insert into \"Sales-EU 1\".\"Out\"\"B'o x_lease\" (relay) values ('x')"
        }) {
            assertThatThrownBy(() -> effects.mayNot(forbidden)).hasMessageContaining("permission denied");
        }
    }

    @Test
    void withoutJpaARollbackTakesTheEventWithIt() throws Exception {
        transactions.requiredRolledBack(() -> effects.insert(id));
        assertThatThrownBy(() -> transactions.required(() -> {
            effects.insert(id);
            registry.registerInterposedSynchronization(new LateRollback(5));
        }));

        assertThat(locksBeforeRollback).as("the row was written").hasPositiveValue();
        assertThat(events(id)).isZero();
        assertThat(effectRows(id)).isZero();
    }

    @Test
    void withoutJpaAnInnerTransactionIsIndependent() throws Exception {
        transactions.requiredRolledBack(() -> {
            effects.insert(id);
            effects.insertInNewTransaction(id + 1);
        });

        assertThat(events(id)).isZero();
        assertThat(events(id + 1)).isEqualTo(1);
    }

    /**
     * With a data source that is not XA, Payara's pool takes a connection back twice that was opened before a commit outside
     * of an EJB. From then on it gives it to two transactions at once. The self-test at the start must not do that.
     */
    @Test
    void faultNNTransactionsThatRunAtOnceHaveConnectionsOfTheirOwn() throws Exception {
        CyclicBarrier all = new CyclicBarrier(CONNECTIONS);
        List<CompletableFuture<Integer>> backends = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            CompletableFuture<Integer> backend = new CompletableFuture<>();
            backends.add(backend);
            threads.newThread(() -> holdConnection(backend, all)).start();
        }

        List<Integer> found = new ArrayList<>();
        for (CompletableFuture<Integer> backend : backends) {
            found.add(backend.get(60, TimeUnit.SECONDS));
        }
        assertThat(found).doesNotHaveDuplicates();
    }

    private void holdConnection(CompletableFuture<Integer> backend, CyclicBarrier all) {
        try {
            transactions.requiresNew(() -> {
                int process = effects.backend();
                all.await(30, TimeUnit.SECONDS);
                backend.complete(process);
            });
        } catch (Exception e) {
            backend.completeExceptionally(e);
        }
    }

    @Test
    void anAlternativeSerializerReplacesTheDefault() throws Exception {
        effects.insert(id);

        assertThat(Committed.rows(
                        URL,
                        "select content_type, convert_from(payload, 'UTF8') as payload"
                                + " from \"Sales-EU 1\".\"Out\"\"B'o x\" where key = ?",
                        Long.toString(id)))
                .singleElement()
                .satisfies(row -> assertThat(row)
                        .containsEntry("content_type", "text/plain;charset=utf-8")
                        .containsEntry("payload", "AccountChanged[accountId=" + id + ", what=inserted]"));
    }

    private final class LateRollback implements Synchronization {
        private final int hops;

        LateRollback(int hops) {
            this.hops = hops;
        }

        @Override
        public void beforeCompletion() {
            if (hops > 0) {
                registry.registerInterposedSynchronization(new LateRollback(hops - 1));
                return;
            }
            try {
                // The role may not read the table.
                locksBeforeRollback.set(Committed.count(
                        URL,
                        "select from pg_locks where mode = 'RowExclusiveLock' and relation ="
                                + " '\"Sales-EU 1\".\"Out\"\"B''o x\"'::regclass"));
            } catch (java.sql.SQLException e) {
                throw new IllegalStateException(e);
            } finally {
                registry.setRollbackOnly();
            }
        }

        @Override
        public void afterCompletion(int status) {}
    }

    private static int events(long id) throws Exception {
        return Committed.count(URL, "select from \"Sales-EU 1\".\"Out\"\"B'o x\" where key = ?", Long.toString(id));
    }

    private static int effectRows(long id) throws Exception {
        return Committed.count(URL, "select from business.effect where id = ?", id);
    }
}
