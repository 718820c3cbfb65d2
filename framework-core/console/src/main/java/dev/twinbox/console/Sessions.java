package dev.twinbox.console;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Logins of browsers. Each has an id of its own that nobody can guess, and ends after {@link #LIFETIME}. They live in
 * memory: those of a process end with it. For several threads.
 */
final class Sessions {
    static final Duration LIFETIME = Duration.ofHours(8);

    /** Of more, the oldest ends. Only whoever has a token can begin one. */
    static final int MOST = 100;

    private static final int ID_BYTES = 32;

    /** @param endsAt monotonic time */
    private record Session(Role role, long endsAt) {}

    private final LongSupplier nanoTime;
    private final SecureRandom random = new SecureRandom();

    /** By the digest of the id, the oldest first. How long a look-up takes says nothing about the ids. */
    private final Map<String, Session> byDigest = new LinkedHashMap<>();

    /** @param nanoTime monotonic */
    Sessions(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Browsers do not tell ports apart, and there may be several consoles on a host. */
    static String cookieName(WebRequest request) {
        return "twinbox-" + request.localPort();
    }

    /** The id of a new session. */
    synchronized String begin(Role role) {
        removeEnded();
        if (byDigest.size() == MOST) {
            byDigest.remove(byDigest.keySet().iterator().next());
        }
        byte[] id = new byte[ID_BYTES];
        random.nextBytes(id);
        String text = Base64.getUrlEncoder().withoutPadding().encodeToString(id);
        byDigest.put(Digests.text(text), new Session(role, nanoTime.getAsLong() + LIFETIME.toNanos()));
        return text;
    }

    /** Null if there is no such session, or no longer. */
    synchronized @Nullable Role role(String id) {
        removeEnded();
        Session session = byDigest.get(Digests.text(id));
        return session == null ? null : session.role();
    }

    synchronized void end(String id) {
        byDigest.remove(Digests.text(id));
    }

    private void removeEnded() {
        long now = nanoTime.getAsLong();
        byDigest.values().removeIf(session -> session.endsAt() - now <= 0);
    }
}
