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
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
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

    private final @Nullable KeyLocks locks;
    private final String group;
    private final AtomicBoolean isAway = new AtomicBoolean();

    /** @param locks null: no handler is guarded */
    Guard(@Nullable KeyLocks locks, String group) {
        this.locks = locks;
        this.group = group;
    }

    /**
     * The answer for one event and handler. It is closed after the attempt.
     *
     * @param isOpen whether the handler may be called
     * @param lock null: there is none to give back
     */
    record Pass(boolean isOpen, @Nullable KeyLock lock) implements AutoCloseable {

        private static final Pass FREE = new Pass(true, null);
        private static final Pass BUSY = new Pass(false, null);

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
            return lock.isPresent() ? new Pass(true, lock.get()) : Pass.BUSY;
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
