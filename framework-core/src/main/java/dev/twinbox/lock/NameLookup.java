package dev.twinbox.lock;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Finds the addresses of a host within a limit. The JVM waits for a name server for many seconds, so another thread asks
 * it. One at a time does, for all callers.
 */
final class NameLookup {

    /** A question that never ends, because its thread was taken away, is not waited for any more. */
    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final String host;
    private final Callable<InetAddress[]> resolver;
    private final Executor threads;
    private final int limitMillis;

    /** Guarded by this object. */
    private @Nullable FutureTask<InetAddress[]> question;

    private long askedAt;

    /** What the name server has said last. Any thread writes it. */
    private volatile InetAddress @Nullable [] last;

    NameLookup(String host, Executor threads, int limitMillis) {
        this(host, () -> InetAddress.getAllByName(host), threads, limitMillis);
    }

    /** @param resolver asks for the addresses */
    NameLookup(String host, Callable<InetAddress[]> resolver, Executor threads, int limitMillis) {
        this.host = host;
        this.resolver = resolver;
        this.threads = threads;
        this.limitMillis = limitMillis;
    }

    /**
     * The addresses now, or those of before if the name server does not answer in time.
     *
     * @throws UnknownHostException if there are none, or none are known in time
     * @throws InterruptedException if the thread is interrupted
     */
    InetAddress[] addresses() throws UnknownHostException, InterruptedException {
        try {
            InetAddress[] found = ask().get(limitMillis, TimeUnit.MILLISECONDS);
            last = found;
            return found;
        } catch (TimeoutException e) {
            InetAddress[] known = last;
            if (known != null) {
                return known;
            }
            throw new UnknownHostException(
                    "the name server has not answered for " + host + " within " + limitMillis + " ms");
        } catch (ExecutionException e) {
            throw new UnknownHostException("the address of " + host + " was not found: " + e.getCause());
        } catch (RejectedExecutionException e) { // the application is being deployed or undeployed
            throw new UnknownHostException("the address of " + host + " was not looked up: " + e);
        }
    }

    private synchronized FutureTask<InetAddress[]> ask() {
        FutureTask<InetAddress[]> pending = question;
        if (pending == null || pending.isDone() || System.nanoTime() - askedAt > LONGEST_NANOS) {
            pending = new FutureTask<>(resolver);
            threads.execute(pending);
            question = pending;
            askedAt = System.nanoTime();
        }
        return pending;
    }
}
