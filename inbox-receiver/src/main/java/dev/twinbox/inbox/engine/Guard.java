package dev.twinbox.inbox.engine;

import dev.twinbox.KeyLock;
import dev.twinbox.KeyLocks;
import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ReceivedEvent;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Collections;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets one instance at a time start a guarded handler for an event. It saves work and decides nothing: the claim in the
 * inbox does. So it may be away, and a lock may end before its handler does.
 *
 * <p>Used by all workers.
 */
final class Guard {

    private static final Logger LOG = System.getLogger(Guard.class.getName());

    /** An instance that dies holds its events up for as long. */
    private static final Duration LEASE = Duration.ofSeconds(30);

    /** No lock of another instance lasts for longer. Then something else keeps the key. */
    private static final long LONGEST_NANOS = LEASE.plusSeconds(1).toNanos();

    private final @Nullable KeyLocks locks;
    private final String group;
    private final LongSupplier nanos;
    private final AtomicBoolean isAway = new AtomicBoolean();

    /** Of events that have not got their lock. What leaves this instance is forgotten with the event. */
    private final Map<ReceivedEvent, Wait> waits = Collections.synchronizedMap(new WeakHashMap<>());

    /** @param locks null: no handler is guarded */
    Guard(@Nullable KeyLocks locks, String group) {
        this(locks, group, System::nanoTime);
    }

    /** @param nanos as {@link System#nanoTime} */
    Guard(@Nullable KeyLocks locks, String group, LongSupplier nanos) {
        this.locks = locks;
        this.group = group;
        this.nanos = nanos;
    }

    /**
     * An event at the guard of a handler. One worker has the event at a time.
     *
     * @param since as {@link System#nanoTime}
     */
    private record Wait(String handler, long since, AtomicBoolean isReported) {}

    /**
     * The answer for one event and handler. It is closed after the attempt.
     *
     * @param isOpen whether the handler may be called
     * @param lock null: there is none to give back
     */
    record Pass(boolean isOpen, @Nullable KeyLock lock) implements AutoCloseable {

        private static final Pass FREE = new Pass(true, null);
        private static final Pass BUSY = new Pass(false, null);

        /** For an event whose handler is not called any more. */
        static Pass unasked() {
            return FREE;
        }

        @Override
        public void close() {
            if (lock != null) {
                lock.close();
            }
        }
    }

    /** Asks whether this instance may call the handler now. */
    Pass enter(ReceivedEvent event, Handler handler) {
        KeyLocks by = locks;
        if (by == null || !handler.isGuarded()) {
            return Pass.FREE;
        }
        try {
            Optional<KeyLock> lock = by.tryLock(key(event, handler), LEASE);
            if (isAway.getAndSet(false)) {
                LOG.log(Level.INFO, "Locks work again; handlers of group {0} are guarded", group);
            }
            if (lock.isPresent()) {
                waits.remove(event);
                return new Pass(true, lock.get());
            }
            return isWaitOver(event, handler) ? Pass.FREE : Pass.BUSY;
        } catch (RuntimeException e) { // whatever it is, the inbox decides
            if (!isAway.getAndSet(true)) {
                LOG.log(
                        Level.WARNING,
                        "Locks do not work, so handlers of group {0} are not guarded until they do: {1}",
                        group,
                        ErrorText.of(e));
            }
            return Pass.FREE;
        }
    }

    /** Another session may be at the lock's row for ever, or a key in Redis may have no expiry. The inbox decides then. */
    private boolean isWaitOver(ReceivedEvent event, Handler handler) {
        long now = nanos.getAsLong();
        Wait wait = waits.get(event);
        if (wait == null || !wait.handler().equals(handler.name())) {
            waits.put(event, new Wait(handler.name(), now, new AtomicBoolean()));
            return false;
        }
        if (now - wait.since() <= LONGEST_NANOS) {
            return false;
        }
        if (!wait.isReported().getAndSet(true)) {
            LOG.log(
                    Level.WARNING,
                    "The guard of handler {0} has kept {1} waiting for {2} s, longer than any instance may hold it; the "
                            + "handler goes on without it. Look for a session that holds a row of the table of locks "
                            + "(pg_locks), for a prepared transaction, or for a key without expiry in Redis",
                    handler.name(),
                    event,
                    Duration.ofNanos(now - wait.since()).toSeconds());
        }
        return true;
    }

    /** A hash, because group, name and id together may be longer than a key. */
    private String key(ReceivedEvent event, Handler handler) {
        String identity = String.join("\0", group, handler.name(), event.id(), Long.toString(event.source()));
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(identity.getBytes(StandardCharsets.UTF_8));
            return "inbox " + HexFormat.of().formatHex(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java has SHA-256", e);
        }
    }
}
