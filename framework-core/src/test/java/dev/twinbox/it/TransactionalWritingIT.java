package dev.twinbox.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.InvalidEventException;
import dev.twinbox.OutboxEvent;
import dev.twinbox.OutboxPublisher;
import jakarta.annotation.Resource;
import jakarta.enterprise.concurrent.ManagedExecutorService;
import jakarta.enterprise.concurrent.ManagedThreadFactory;
import jakarta.inject.Inject;
import jakarta.persistence.EntityManager;
import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import jakarta.transaction.TransactionRequiredException;
import jakarta.transaction.TransactionSynchronizationRegistry;
import jakarta.transaction.TransactionalException;
import jakarta.transaction.UserTransaction;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Events share the outcome of the transaction: all tests but those without JPA. They run in the server, in one
 * deployment, so that Payara starts once.
 */
@ExtendWith(ArquillianExtension.class)
public class TransactionalWritingIT {

    private static final int THREADS = 8;
    private static final int TRANSACTIONS_PER_THREAD = 50;

    @Inject
    OutboxPublisher publisher;

    @Inject
    Announcer announcer;

    @Inject
    TransactionalAnnouncer transactionalAnnouncer;

    @Inject
    Announcements announcements;

    @Inject
    Transactions transactions;

    @Inject
    Resources resources;

    @Resource(lookup = "java:comp/UserTransaction")
    UserTransaction userTransaction;

    @Resource(lookup = "java:comp/TransactionSynchronizationRegistry")
    TransactionSynchronizationRegistry registry;

    @Resource(lookup = "java:comp/DefaultManagedExecutorService")
    ManagedExecutorService executor;

    @Resource(lookup = "java:comp/DefaultManagedThreadFactory")
    ManagedThreadFactory threads;

    private final AtomicInteger rowsBeforeRollback = new AtomicInteger();

    private final long account = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);

    @Deployment
    public static WebArchive application() {
        return TestWar.named("writing", """
                        twinbox.outbox.data-source=java:app/jdbc/main
                        twinbox.outbox.source=/tests/writing
                        twinbox.outbox.max-events-per-transaction=500
                        twinbox.outbox.max-payload-bytes=100000
                        twinbox.outbox.max-bytes-per-transaction=1000000
                        """)
                .addAsLibraries(TestWar.hibernate())
                .addAsResource("persistence.xml", "META-INF/persistence.xml")
                .addClasses(
                        Account.class,
                        AccountListener.class,
                        AccountChanged.class,
                        Announcer.class,
                        TransactionalAnnouncer.class,
                        Announcements.class,
                        Announcements.Plain.class,
                        Announcements.Plain.Inner.class,
                        Announcements.Bean.class,
                        AfterSuccess.class,
                        AfterSuccess.Happened.class,
                        Transactions.class,
                        Transactions.Work.class,
                        Resources.class,
                        StartupAnnouncement.class,
                        Committed.class,
                        TestWar.class);
    }

    // What is written

    @Test
    void anEventIsStoredWithAllItsAttributes() throws Exception {
        OffsetDateTime before = OffsetDateTime.now().minusSeconds(1);
        transactions.required(() -> announcements.complete(key()));

        Map<String, Object> row = onlyRow("select * from outbox_event where key = ?");
        assertThat(row)
                .containsEntry("topic", "raw")
                .containsEntry("type", "raw.sent")
                .containsEntry("source", "/tests/writing")
                .containsEntry("subject", "about/it")
                .containsEntry("content_type", "text/plain")
                .containsEntry("payload", "raw bytes".getBytes());
        assertThat(((UUID) row.get("id")).version()).isEqualTo(7);
        assertThat(((java.sql.Timestamp) row.get("occurred_at")).toInstant()).isAfter(before.toInstant());
        assertThat(((java.sql.Array) onlyRow("select headers from outbox_event where key = ?")
                                .get("headers"))
                        .toString())
                .isEqualTo("{traceparent,00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01,"
                        + "\"quoted \\\"{,}\\\\\",\"é, \\\"ü\\\"\\\\\"}");
    }

    @Test
    void aScheduledEventIsStoredWithItsTimeIfTheTransactionCommits() throws Exception {
        Instant time = Instant.parse("2031-01-01T00:00:00.000001001Z");
        AccountChanged later = new AccountChanged(account, "later");
        transactions.requiredRolledBack(
                () -> publisher.publish(OutboxEvent.of(later).withDeliverAt(time)));
        transactions.required(() -> publisher.publishAll(List.of(
                OutboxEvent.of(later).withDeliverAt(time).withHeader("a", "b"), new AccountChanged(account, "now"))));

        assertThat(Committed.events(account)).containsExactly("now");
        Map<String, Object> row = onlyRow("select s.*, s.tx = e.tx as together from outbox_scheduled s"
                + " join outbox_event e on e.key = s.key where s.key = ?");
        assertThat(((java.sql.Timestamp) row.get("deliver_at")).toInstant())
                .isEqualTo(Instant.parse("2031-01-01T00:00:00.000002Z"));
        assertThat(row).containsEntry("together", true).containsEntry("source", "/tests/writing");
        assertThat(row.get("headers")).hasToString("{a,b}");
    }

    @Test
    void aRecordIsWrittenAsJsonOfItsComponents() throws Exception {
        UUID code = UUID.randomUUID();
        announcements.plain(code);

        Map<String, Object> row = onlyRow(
                "select *, convert_from(payload, 'UTF8') as json from outbox_event where key = ?", code.toString());
        assertThat(row)
                .containsEntry("topic", "plain")
                .containsEntry("type", "plain.made")
                .containsEntry("content_type", "application/json")
                .containsEntry("headers", null)
                .containsEntry("subject", null);
        assertThat((String) row.get("json"))
                .isEqualTo("{\"amount\":12.50,\"code\":\"" + code
                        + "\",\"day\":\"2026-11-29\",\"inner\":{\"text\":\"é€😀\"},\"lines\":[\"a\",\"b\"]}");
    }

    @Test
    void anOrdinaryClassIsWrittenAsJsonOfItsGetters() throws Exception {
        announcements.bean(key());

        assertThat(onlyRow("select convert_from(payload, 'UTF8') as json from outbox_event where key = ?"))
                .containsEntry("json", "{\"name\":\"" + key() + "\"}");
    }

    @Test
    void everyLegalReturnValueIsPublishedAndReachesTheCaller() throws Exception {
        assertThat(announcements.event(account, "event")).isEqualTo(new AccountChanged(account, "event"));
        assertThat(announcements.nothing()).isNull();
        assertThat(announcements.optional(account, null)).isEmpty();
        assertThat(announcements.optional(account, "optional")).contains(new AccountChanged(account, "optional"));
        assertThat(announcements.collection(account)).isEmpty();
        assertThat(announcements.collection(account, "c1", "c2")).hasSize(2);
        assertThat(announcements.stream(account, "s1", "s2", "s3").map(AccountChanged::what))
                .containsExactly("s1", "s2", "s3");

        assertThat(Committed.events(account)).containsExactly("event", "optional", "c1", "c2", "s1", "s2", "s3");
    }

    @Test
    void eventsOfOneTransactionKeepTheOrderOfTheCallsBeyondOneStatement() throws Exception {
        List<String> expected =
                IntStream.range(0, 350).mapToObj(i -> "event " + i).toList();
        transactions.required(() -> {
            for (String what : expected.subList(0, 120)) {
                announcer.announce(account, what);
            }
            publisher.publishAll(expected.subList(120, 350).stream()
                    .map(what -> new AccountChanged(account, what))
                    .toList());
        });

        assertThat(Committed.events(account)).isEqualTo(expected);
        assertThat(Committed.count("twinbox.it.url", "select distinct tx from outbox_event where key = ?", key()))
                .as("transactions")
                .isEqualTo(1);
    }

    @Test
    void aTombstoneHasNoPayload() throws Exception {
        transactions.required(() -> publisher.publish(OutboxEvent.tombstone("accounts", key(), "account.gone")));

        assertThat(onlyRow("select payload from outbox_event where key = ?")).containsEntry("payload", null);
    }

    // Commit and rollback

    @Test
    void aRuntimeExceptionTakesTheEventWithIt() throws Exception {
        assertThatThrownBy(() -> transactions.required(() -> {
                    announcer.announce(account, "before");
                    announcements.thenThrow(account);
                }))
                .rootCause()
                .hasMessageContaining("on purpose");

        assertThat(Committed.events(account)).isEmpty();
    }

    @Test
    void setRollbackOnlyTakesTheEventWithIt() throws Exception {
        announcements.thenRollbackOnly(account);
        transactions.requiredRolledBack(() -> {
            resources.insertAccount(account, "");
            announcer.announce(account, "before");
        });

        assertThat(Committed.events(account)).isEmpty();
        assertThat(Committed.accounts(account)).isZero();
    }

    @Test
    void setRollbackOnlyInALaterBeforeCompletionTakesTheRowWithIt() throws Exception {
        assertThatThrownBy(() -> transactions.required(this::publishThenRollBackLate));

        assertThat(rowsBeforeRollback).hasValue(1);
        assertThat(Committed.events(account)).isEmpty();
        assertThat(Committed.accounts(account)).isZero();
    }

    @Test
    void setRollbackOnlyInALaterBeforeCompletionOnAManagedThreadRemovesTheRow() {
        assertThatThrownBy(() -> executor.submit(() -> {
                            transactions.required(this::publishThenRollBackLate);
                            return null;
                        })
                        .get(1, TimeUnit.MINUTES))
                .isInstanceOf(ExecutionException.class);

        assertThat(rowsBeforeRollback).hasValue(1);
        assertThat(eventsUnchecked()).isEmpty();
    }

    @Test
    void setRollbackOnlyInALaterBeforeCompletionInAUserTransactionRemovesIt() throws Exception {
        userTransaction.begin();
        publishThenRollBackLate();
        assertThatThrownBy(userTransaction::commit);

        assertThat(rowsBeforeRollback).hasValue(1);
        assertThat(Committed.events(account)).isEmpty();
        assertThat(Committed.accounts(account)).isZero();
    }

    @Test
    void anInnerTransactionThatRollsBackTakesOnlyItsOwnEvent() throws Exception {
        transactions.required(() -> {
            announcer.announce(account, "outer before");
            transactions.requiresNewRolledBack(() -> announcer.announce(account, "inner"));
            announcer.announce(account, "outer after");
        });

        assertThat(Committed.events(account)).containsExactly("outer before", "outer after");
    }

    @Test
    void anInnerTransactionKeepsItsEventWhenTheOuterOneRollsBack() throws Exception {
        transactions.requiredRolledBack(() -> {
            announcer.announce(account, "outer");
            announcements.inNewTransaction(account, "inner session bean");
            transactionalAnnouncer.announceInNewTransaction(account, "inner managed bean");
        });

        assertThat(Committed.events(account)).containsExactly("inner session bean", "inner managed bean");
    }

    @Test
    void twoResourcesCommitTogetherAndRollBackTogether() throws Exception {
        transactions.required(() -> {
            resources.insertEffect(account);
            resources.insertAccount(account, "");
            announcer.announce(account, "both");
        });
        transactions.requiredRolledBack(() -> {
            resources.insertEffect(account + 1);
            announcer.announce(account, "neither");
        });

        assertThat(Committed.events(account)).containsExactly("both");
        assertThat(Committed.effects(account)).isEqualTo(1);
        assertThat(Committed.effects(account + 1)).isZero();
    }

    @Test
    void theOutboxAloneEnlistsItsDataSource() throws Exception {
        transactionalAnnouncer.announce(account, "alone");

        assertThat(Committed.events(account)).containsExactly("alone");
    }

    @Test
    void rowsThatCannotBeWrittenRollTheTransactionBackAndSayWhy() throws Exception {
        Committed.execute(
                "twinbox.it.url",
                "alter table outbox_event add constraint refused check (key <> '" + key() + "') not valid");
        try {
            assertThatThrownBy(() -> transactions.required(() -> {
                        resources.insertAccount(account, "");
                        announcer.announce(account, "refused");
                    }))
                    .satisfies(e -> assertThat(chain(e)).contains("refused"));
        } finally {
            Committed.execute("twinbox.it.url", "alter table outbox_event drop constraint refused");
        }

        assertThat(Committed.accounts(account)).isZero();
        assertThat(Committed.events(account)).isEmpty();
    }

    // Refused at the call

    @Test
    void anIllegalEventIsRefusedAtTheCallAndRollsBack() throws Exception {
        assertThatThrownBy(() -> transactions.required(() -> {
                    resources.insertAccount(account, "");
                    announcements.illegalKey(account);
                }))
                .satisfies(e -> assertThat(chain(e)).contains("key contains U+0000 at index 1"));

        assertThat(Committed.accounts(account)).isZero();
    }

    @Test
    void whatExceedsALimitIsRefusedAtTheCallWithTheLimit() throws Exception {
        transactions.required(() -> {
            assertThatThrownBy(() -> publisher.publish(
                            OutboxEvent.of(new byte[100_001]).withTopic("t").withType("t")))
                    .isInstanceOf(InvalidEventException.class)
                    .hasMessageContaining("100001 bytes")
                    .hasMessageContaining("twinbox.outbox.max-payload-bytes allows 100000");
            List<AccountChanged> many = IntStream.range(0, 501)
                    .mapToObj(i -> new AccountChanged(account, "too many"))
                    .toList();
            assertThatThrownBy(() -> publisher.publishAll(many))
                    .isInstanceOf(InvalidEventException.class)
                    .hasMessageContaining("501")
                    .hasMessageContaining("twinbox.outbox.max-events-per-transaction allows 500");
            OutboxEvent large = OutboxEvent.of(new byte[99_000])
                    .withTopic("t")
                    .withType("t")
                    .withKey(key());
            assertThatThrownBy(() -> IntStream.range(0, 11).forEach(i -> publisher.publish(large)))
                    .isInstanceOf(InvalidEventException.class)
                    .hasMessageContaining("twinbox.outbox.max-bytes-per-transaction allows 1000000");
            registry.setRollbackOnly();
        });
    }

    @Test
    void anEventWithoutTopicIsRefusedAtTheCallWithTheRemedy() throws Exception {
        transactions.required(() -> assertThatThrownBy(() -> publisher.publish(new Announcements.Bean("x")))
                .isInstanceOf(InvalidEventException.class)
                .hasMessageContaining("Announcements$Bean")
                .hasMessageContaining("has no topic")
                .hasMessageContaining("@EventType"));
    }

    // During the flush

    @ParameterizedTest
    @ValueSource(strings = {"hibernate", "eclipselink"})
    void scenario5CDIFLUSHEventsOfListenersInTheCommitFlushAreStoredOnce(String unit) throws Exception {
        EntityManager em = resources.entityManager(unit);
        transactions.required(() -> {
            em.persist(new Account(account, "PrePersist PostPersist"));
            em.persist(new Account(account + 1, "PostPersist"));
        });
        assertThat(Committed.events(account)).containsExactly("PrePersist", "PostPersist");
        assertThat(Committed.events(account + 1)).containsExactly("PostPersist");

        transactions.required(() -> {
            em.find(Account.class, account).setNote("PreUpdate PostUpdate");
            em.find(Account.class, account + 1).setNote("PreUpdate PostUpdate");
            announcer.announce(account, "published before the flush");
        });
        assertThat(Committed.events(account))
                .containsExactly("PrePersist", "PostPersist", "published before the flush", "PreUpdate", "PostUpdate");
        assertThat(Committed.events(account + 1)).containsExactly("PostPersist", "PreUpdate", "PostUpdate");
    }

    @ParameterizedTest
    @ValueSource(strings = {"hibernate", "eclipselink"})
    void scenario5CDIFLUSHEventsOfEntityListenersRollBackWithTheTransaction(String unit) throws Exception {
        EntityManager em = resources.entityManager(unit);
        transactions.requiredRolledBack(() -> {
            em.persist(new Account(account, "PrePersist PostPersist"));
            em.flush();
        });
        assertThatThrownBy(() -> transactions.required(() -> {
            rollBackLate();
            em.persist(new Account(account, "PostPersist"));
        }));

        assertThat(rowsBeforeRollback).hasValue(1);
        assertThat(Committed.events(account)).isEmpty();
        assertThat(Committed.accounts(account)).isZero();
    }

    @Test
    void scenario5CDIFLUSHAnObserverAfterSuccessNeedsItsOwnTransaction() throws Exception {
        AfterSuccess.reset();
        transactions.required(() -> {
            announcer.announce(account, "in the transaction");
            jakarta.enterprise
                    .inject
                    .spi
                    .CDI
                    .current()
                    .getBeanManager()
                    .getEvent()
                    .fire(new AfterSuccess.Happened(account));
        });

        AfterSuccess.awaitOutcome();
        assertThat(AfterSuccess.refusal())
                .isInstanceOf(TransactionalException.class)
                .hasMessageContaining(Announcer.class.getName() + ".announce");
        assertThat(Committed.events(account)).containsExactly("in the transaction", "own transaction");
    }

    @ParameterizedTest
    @ValueSource(strings = {"hibernate", "eclipselink"})
    void scenario9FLUSHCOMMITAnExplicitFlushMakesNothingPermanent(String unit) throws Exception {
        EntityManager em = resources.entityManager(unit);
        Transactions.Work everything = () -> {
            em.persist(new Account(account, "PostPersist"));
            announcer.announce(account, "published");
            em.flush();
            resources.insertAccount(account + 1, "");
            resources.insertEffect(account);
        };
        transactions.requiredRolledBack(everything);
        assertThatThrownBy(() -> transactions.required(() -> {
            everything.run();
            throw new IllegalStateException("on purpose");
        }));

        assertThat(Committed.events(account)).isEmpty();
        assertThat(Committed.accounts(account)).isZero();
        assertThat(Committed.accounts(account + 1)).isZero();
        assertThat(Committed.effects(account)).isZero();
    }

    // Without a transaction

    @Test
    void scenario4NOTXABeanWithoutATransactionIsRefusedAndNamed() {
        assertRefused(() -> announcer.announce(account, "lost?"), Announcer.class.getName() + ".announce");
    }

    @Test
    void scenario4NOTXThePublisherNamesTheMethodThatCalledIt() {
        assertRefused(
                () -> publisher.publish(new AccountChanged(account, "lost?")), TransactionalWritingIT.class.getName());
    }

    @Test
    void scenario4NOTXNOTSUPPORTEDIsRefusedAndNamed() throws Exception {
        transactions.required(() -> transactions.notSupported(() ->
                assertRefused(() -> announcer.announce(account, "lost?"), Announcer.class.getName() + ".announce")));
        assertThat(Committed.events(account)).isEmpty();
    }

    @Test
    void scenario4NOTXSelfInvocationIsTheDocumentedTrap() throws Exception {
        transactions.required(() -> announcer.announceThroughThis(account, "not seen by any interceptor"));

        assertThat(Committed.events(account)).isEmpty();
    }

    @Test
    void scenario4NOTXAManagedThreadHasNoTransactionOfItsCreator() throws Exception {
        AtomicReference<Throwable> refusal = new AtomicReference<>();
        transactions.required(() -> executor.submit(() -> {
                    try {
                        announcer.announce(account, "lost?");
                    } catch (RuntimeException e) {
                        refusal.set(e);
                    }
                    announcements.event(account, "session bean on a managed thread");
                })
                .get(1, TimeUnit.MINUTES));

        assertThat(refusal.get())
                .isInstanceOf(TransactionalException.class)
                .hasMessageContaining(Announcer.class.getName() + ".announce");
        assertThat(Committed.events(account)).containsExactly("session bean on a managed thread");
    }

    @Test
    void scenario4NOTXAStartupSingletonPublishesInItsCallbacksTransaction() throws Exception {
        assertThat(Committed.events(StartupAnnouncement.ACCOUNT)).contains("started");
    }

    // The transaction decides, not the exception

    @Test
    void scenario6CHECKEDEXATransactionThatCommitsAfterAnExceptionPublishes() throws Exception {
        assertThatThrownBy(() -> transactions.required(() -> {
                    resources.insertAccount(account, "");
                    announcer.announce(account, "checked");
                    throw new java.io.IOException("checked: commits by JTA's default");
                }))
                .isInstanceOf(java.io.IOException.class);

        assertThat(Committed.accounts(account)).isEqualTo(1);
        assertThat(Committed.events(account)).containsExactly("checked");
    }

    @Test
    void scenario6CHECKEDEXAnErrorRollsTheEventBack() throws Exception {
        assertThatThrownBy(() -> transactions.required(() -> {
            resources.insertAccount(account, "");
            announcer.announce(account, "error");
            throw new AssertionError("on purpose");
        }));

        assertThat(Committed.accounts(account)).isZero();
        assertThat(Committed.events(account)).isEmpty();
    }

    @Test
    void scenario7TXTIMEOUTAllOrNothingAndTheThreadGoesOn() throws Exception {
        userTransaction.setTransactionTimeout(5);
        userTransaction.begin();
        resources.insertAccount(account, "");
        announcer.announce(account, "before the timeout");
        // Payara looks for timed-out XA transactions every ten seconds.
        Awaitility.await()
                .pollInSameThread() // the status is that of the thread's transaction
                .atMost(Duration.ofMinutes(2))
                .until(() -> registry.getTransactionStatus() != Status.STATUS_ACTIVE);
        try {
            announcer.announce(account, "after the timeout");
        } catch (RuntimeException e) {
            assertThat(e).isInstanceOf(TransactionalException.class);
        }
        assertThatThrownBy(userTransaction::commit);
        userTransaction.setTransactionTimeout(0);

        assertThat(Committed.events(account)).isEmpty();
        assertThat(Committed.accounts(account)).isZero();
        for (int i = 0; i < 20; i++) {
            announcements.event(account, "next " + i);
        }
        assertThat(Committed.events(account)).hasSize(20);
    }

    // Order

    @ParameterizedTest
    @ValueSource(strings = {"hibernate", "eclipselink"})
    void outboxOrderIsTheOrderOfChangesOfOneRowIfPublishedFirst(String unit) throws Exception {
        EntityManager em = resources.entityManager(unit);
        assertNoInversions(i -> {
            announcer.announce(account, "published first");
            em.find(Account.class, account).setNote("change " + i);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"hibernate", "eclipselink"})
    void outboxOrderIsTheOrderOfChangesOfOneRowIfPublishedLast(String unit) throws Exception {
        EntityManager em = resources.entityManager(unit);
        assertNoInversions(i -> {
            em.find(Account.class, account).setNote("change " + i);
            announcer.announce(account, "published last");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"hibernate", "eclipselink"})
    void outboxOrderIsTheOrderOfChangesOfOneRowIfAListenerPublishes(String unit) throws Exception {
        EntityManager em = resources.entityManager(unit);
        assertNoInversions(i -> em.find(Account.class, account).setNote("PreUpdate " + i));
    }

    @Test
    void onOneRowTheOutboxOrderIsTheOrderOfChangesWithPlainJdbc() throws Exception {
        assertNoInversions(i -> {
            announcer.announce(account, "published first");
            resources.changeAccount(account, "change " + i);
        });
    }

    /** One transaction of the stress. */
    private interface Change {
        void apply(int number) throws Exception;
    }

    private void assertNoInversions(Change change) throws Exception {
        resources.insertAccount(account, "");
        AtomicReference<Throwable> failure = new AtomicReference<>();
        CountDownLatch done = new CountDownLatch(THREADS);
        for (int thread = 0; thread < THREADS; thread++) {
            int first = thread * TRANSACTIONS_PER_THREAD;
            threads.newThread(() -> {
                        try {
                            for (int i = first; i < first + TRANSACTIONS_PER_THREAD; i++) {
                                int number = i;
                                transactions.required(() -> change.apply(number));
                            }
                        } catch (Throwable e) {
                            failure.set(e);
                        } finally {
                            done.countDown();
                        }
                    })
                    .start();
        }
        assertThat(done.await(3, TimeUnit.MINUTES)).as("all threads are done").isTrue();
        assertThat(failure.get()).as("first failure").isNull();

        Map<String, Object> found = onlyRow("""
                select count(*) filter (where seq < seq_before) as inversions, count(*) as changes, count(seq) as events
                  from (select c.number, e.seq, lag(e.seq) over (order by c.number) as seq_before
                          from account_change c left join outbox_event e on e.tx = c.tx and e.key = c.account::text
                         where c.account = ?) as by_row_lock
                """, account);
        long all = (long) THREADS * TRANSACTIONS_PER_THREAD;
        assertThat(found)
                .containsEntry("changes", all)
                .containsEntry("events", all)
                .containsEntry("inversions", 0L);
    }

    // Tools

    private void publishThenRollBackLate() throws Exception {
        resources.insertAccount(account, "");
        announcer.announce(account, "rolled back late");
        rollBackLate();
    }

    /** Sets rollback-only in a synchronization that runs when the outbox has written its rows, and counts them. */
    private void rollBackLate() {
        registry.registerInterposedSynchronization(new LateRollback(5));
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
                // By an EJB: a plain connection would be outside of the transaction here.
                transactions.required(() -> rowsBeforeRollback.set(resources.events(account)));
            } catch (Exception e) {
                throw new IllegalStateException(e);
            } finally {
                registry.setRollbackOnly();
            }
        }

        @Override
        public void afterCompletion(int status) {}
    }

    private void assertRefused(Runnable call, String method) {
        assertThatThrownBy(call::run)
                .isInstanceOf(TransactionalException.class)
                .hasMessageContaining(method)
                .hasMessageContaining("needs an active JTA transaction")
                .hasCauseInstanceOf(TransactionRequiredException.class);
        assertThat(eventsUnchecked()).isEmpty();
    }

    private List<String> eventsUnchecked() {
        try {
            return Committed.events(account);
        } catch (java.sql.SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private String key() {
        return Long.toString(account);
    }

    private Map<String, Object> onlyRow(String sql) throws Exception {
        return onlyRow(sql, key());
    }

    private static Map<String, Object> onlyRow(String sql, Object parameter) throws Exception {
        List<Map<String, Object>> rows = Committed.rows("twinbox.it.url", sql, parameter);
        assertThat(rows).hasSize(1);
        return rows.get(0);
    }

    private static String chain(Throwable e) {
        List<String> messages = new ArrayList<>();
        for (Throwable t = e; t != null; t = t.getCause()) {
            messages.add(t.toString());
        }
        return String.join("\n", messages);
    }
}
