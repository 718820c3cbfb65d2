package dev.twinbox.relay.engine;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.RecordTooLargeException;

/**
 * Real producers, except that chosen records get no answer, a failure that should pass, or a refusal. So these records behave as
 * on a cluster with one faulty partition, which the tests' single broker cannot have. All other records go to the
 * broker.
 */
final class BrokenProducer implements UnaryOperator<Producer<byte[], byte[]>>, AutoCloseable {
    enum Fault {
        NO_ANSWER,
        FAILURE,
        REFUSAL
    }

    private final Fault fault;
    private final Predicate<ProducerRecord<byte[], byte[]>> chosen;
    private final ExecutorService network = Executors.newSingleThreadExecutor();
    private final AtomicInteger faults = new AtomicInteger();
    private volatile boolean mended;

    BrokenProducer(Fault fault, Predicate<ProducerRecord<byte[], byte[]>> chosen) {
        this.fault = fault;
        this.chosen = chosen;
    }

    void mend() {
        mended = true;
    }

    int faults() {
        return faults.get();
    }

    @Override
    @SuppressWarnings("unchecked")
    public Producer<byte[], byte[]> apply(Producer<byte[], byte[]> real) {
        AtomicInteger unanswered = new AtomicInteger();
        return (Producer<byte[], byte[]>) Proxy.newProxyInstance(
                Producer.class.getClassLoader(), new Class<?>[] {Producer.class}, (self, method, arguments) -> {
                    if (method.getName().equals("send") && arguments.length == 2 && !mended) {
                        ProducerRecord<byte[], byte[]> record = (ProducerRecord<byte[], byte[]>) arguments[0];
                        if (chosen.test(record)) {
                            unanswered.incrementAndGet();
                            fail((Callback) arguments[1]);
                            return new CompletableFuture<>();
                        }
                    }
                    if (method.getName().equals("flush") && fault == Fault.NO_ANSWER && unanswered.get() > 0) {
                        awaitInterrupt();
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /**
     * The real client fails a batch on its own thread, and sends nothing from this thread until the callback has
     * returned.
     */
    private void fail(Callback callback) throws InterruptedException, ExecutionException {
        faults.incrementAndGet();
        if (fault != Fault.NO_ANSWER) {
            Exception failure =
                    fault == Fault.FAILURE ? new NetworkException("injected") : new RecordTooLargeException("injected");
            network.submit(() -> callback.onCompletion(null, failure)).get();
        }
    }

    /** Blocks as a real flush does while a record has no answer. */
    private static void awaitInterrupt() {
        try {
            new CompletableFuture<>().get();
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        network.shutdown();
    }
}
