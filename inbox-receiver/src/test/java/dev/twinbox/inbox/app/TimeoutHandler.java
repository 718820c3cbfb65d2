package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.annotation.Resource;
import jakarta.ejb.Stateless;
import jakarta.inject.Inject;
import jakarta.transaction.Status;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Writes an effect before and after a step that runs into the timeout of the transaction. */
@Stateless
public class TimeoutHandler {

    /** The name under which a call is noted that saw its transaction time out. */
    public static final String TIMED_OUT = "timed out";

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final long TICK_NANOS = 100_000_000;

    @Inject
    private Script script;

    @Inject
    private Emitter emitter;

    @Resource(lookup = "java:comp/TransactionSynchronizationRegistry")
    private TransactionSynchronizationRegistry registry;

    @InboxHandler(topic = "timeout", type = "order")
    public void onOrder(Order order) throws Exception {
        emitter.emit(order);
        int calls = script.noteCall("timeout-first", order.id());
        script.writeEffect("timeout-first", order.id());
        if (calls <= order.times()) {
            awaitTimeout(order.id());
        }
        script.writeEffect("timeout-second", order.id());
    }

    /** The server marks the transaction, or ends it, when it finds that it has timed out. */
    private void awaitTimeout(String id) throws Exception {
        long begin = System.nanoTime();
        while (registry.getTransactionStatus() == Status.STATUS_ACTIVE && System.nanoTime() - begin < LIMIT.toNanos()) {
            LockSupport.parkNanos(TICK_NANOS);
        }
        if (registry.getTransactionStatus() != Status.STATUS_ACTIVE) {
            script.noteCall(TIMED_OUT, id);
        }
    }
}
