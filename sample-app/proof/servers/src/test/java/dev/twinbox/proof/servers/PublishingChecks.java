package dev.twinbox.proof.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.proof.appserver.Product;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What must hold when an application publishes. */
abstract class PublishingChecks extends ServerUnderTest {

    static final int THREADS = 8;
    private static final int TRANSACTIONS_PER_THREAD = 50;

    PublishingChecks(Product product, String way) {
        super(product, way);
    }

    @Test
    void theSelfTestChoosesTheWayOfThisServer() {
        assertThat(server.log()).contains("it writes " + way + ", because ");
    }

    /** The business row, its event, and no difference between the transactions of the database that wrote them. */
    @ParameterizedTest
    @CsvSource({
        "EJB, BEFORE_JPA",
        "EJB, AFTER_JPA",
        "EJB, IN_FLUSH",
        "EJB, PLAIN_JDBC",
        "USER_TRANSACTION, BEFORE_JPA",
        "USER_TRANSACTION, AFTER_JPA",
        "USER_TRANSACTION, IN_FLUSH",
        "USER_TRANSACTION, PLAIN_JDBC",
        "TRANSACTIONAL, BEFORE_JPA",
        "TRANSACTIONAL, AFTER_JPA",
        "TRANSACTIONAL, IN_FLUSH",
        "TRANSACTIONAL, PLAIN_JDBC",
        "ASYNCHRONOUS, AFTER_JPA",
        "ASYNCHRONOUS, IN_FLUSH",
        "TIMER, AFTER_JPA",
        "TIMER, IN_FLUSH",
        "MANAGED_THREAD, AFTER_JPA",
        "MANAGED_THREAD, IN_FLUSH",
        "BATCH, AFTER_JPA",
        "BATCH, IN_FLUSH",
        "EJB, TWO_DATA_SOURCES",
        "USER_TRANSACTION, TWO_DATA_SOURCES",
        "TRANSACTIONAL, TWO_DATA_SOURCES",
        "EJB, TWO_DATA_SOURCES_REVERSED",
        "USER_TRANSACTION, TWO_DATA_SOURCES_REVERSED",
        "TRANSACTIONAL, TWO_DATA_SOURCES_REVERSED"
    })
    void rowAndEventAreCommittedTogetherOrNotAtAll(String caller, String when) throws Exception {
        String committed = ref();
        HttpResponse<String> answer = run(caller, committed, 1, when, "COMMIT");
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        await().atMost(LIMIT).until(() -> isPublished(committed));
        run(caller, ref(), 1, when, "ROLLBACK");
        if (!caller.equals("TIMER")) {
            run(caller, ref(), 1, when, "THROW");
        }
        String next = ref(); // so that a timer's rollback is over, too
        run(caller, next, 1, when, "COMMIT");
        await().atMost(LIMIT).until(() -> isPublished(next));

        assertThat(isPublished(committed)).isTrue();
        assertThat(tables.count("elsewhere where ref in (?, ?)", committed, next))
                .isEqualTo(when.startsWith("TWO_DATA_SOURCES") ? 2 : 0);
        assertThat(tables.count("business where ref in (?, ?)", committed, next))
                .isEqualTo(2);
        assertConsistent();
    }

    @ParameterizedTest
    @CsvSource({"COMMIT, COMMIT", "COMMIT, ROLLBACK", "ROLLBACK, COMMIT", "ROLLBACK, ROLLBACK", "THROW, COMMIT"})
    void aNestedTransactionHasItsOwnOutcome(String ending, String innerEnding) throws Exception {
        for (String when : List.of("AFTER_JPA", "IN_FLUSH", "PLAIN_JDBC")) {
            String outer = ref();
            String inner = ref();
            HttpResponse<String> answer = get("run?caller=REQUIRES_NEW&account=1&ref=" + outer + "&when=" + when
                    + "&ending=" + ending + "&inner-account=2&inner-ref=" + inner + "&inner-ending=" + innerEnding);

            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(ending.equals("THROW") ? 500 : 200);
            assertThat(isPublished(outer)).as("outer, " + when).isEqualTo(ending.equals("COMMIT"));
            assertThat(isPublished(inner)).as("inner, " + when).isEqualTo(innerEnding.equals("COMMIT"));
        }
        assertConsistent();
    }

    @ParameterizedTest
    @ValueSource(strings = {"EJB", "USER_TRANSACTION", "TRANSACTIONAL"})
    void underLoadNothingIsLostNothingIsInventedAndTheOrderIsTheOrderOfTheLocks(String caller) throws Exception {
        long account = 10 + List.of("EJB", "USER_TRANSACTION", "TRANSACTIONAL").indexOf(caller);
        long before = tables.count("published");
        List<Callable<Integer>> clients = IntStream.range(0, THREADS)
                .<Callable<Integer>>mapToObj(thread -> () -> transactions(caller, account, thread))
                .toList();
        int committed = 0;
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            for (Future<Integer> each : threads.invokeAll(clients)) {
                committed += each.get();
            }
        } finally {
            threads.shutdownNow();
        }

        assertThat(committed).isGreaterThan(THREADS * TRANSACTIONS_PER_THREAD / 2);
        assertConsistent();
        assertThat(tables.count("published") - before).isEqualTo(committed);
        assertThat(tables.count("account_change where account = ?", account)).isEqualTo(committed);
        assertThat(tables.inversions(account)).as("inversions").isZero();
    }

    /** A third is rolled back. Returns how many were committed. */
    private int transactions(String caller, long account, int thread) throws Exception {
        List<String> moments = List.of("BEFORE_JPA", "AFTER_JPA", "IN_FLUSH", "PLAIN_JDBC");
        int committed = 0;
        for (int i = 0; i < TRANSACTIONS_PER_THREAD; i++) {
            String when = moments.get((i + thread) % moments.size());
            boolean rollback = i % 3 == 2;
            HttpResponse<String> answer = run(caller, ref(), account, when, rollback ? "ROLLBACK" : "COMMIT");
            if (!rollback) {
                assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
                committed++;
            }
        }
        return committed;
    }

    /** Grants, and what is kept until the end of a fenced transaction, have transactions of their own. */
    @ParameterizedTest
    @ValueSource(strings = {"EJB", "USER_TRANSACTION", "TRANSACTIONAL"})
    void ofTwoHoldersOfAKeyOnlyTheLaterOneWrites(String caller) throws Exception {
        String ref = ref();

        HttpResponse<String> answer = get("locks?caller=" + caller + "&account=1&ref=" + ref);

        assertThat(answer.body()).isEqualTo("late refused");
        assertThat(tables.texts("select ref from business where ref like ?", "%" + ref))
                .containsExactly(ref);
        assertThat(isPublished(ref)).isTrue();
        assertConsistent();
    }

    /** A lock of a transaction ends with it, and a lease is extended once its fenced transaction has ended. */
    @ParameterizedTest
    @ValueSource(strings = {"EJB", "USER_TRANSACTION", "TRANSACTIONAL"})
    void aLockOfATransactionEndsWithItAndALeaseIsExtendedAfterIt(String caller) throws Exception {
        String ref = ref();

        HttpResponse<String> answer = get("transaction-locks?caller=" + caller + "&ref=" + ref);

        assertThat(answer.body()).isEqualTo("[true, false, true, true]");
        await().atMost(LIMIT)
                .until(() -> tables.count(
                                "outbox_lock where key = ? and lease_until > clock_timestamp() + interval '5 minutes'",
                                ref)
                        == 1);
    }
}
