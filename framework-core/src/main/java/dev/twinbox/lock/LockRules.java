package dev.twinbox.lock;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What keys and leases may be. */
final class LockRules {

    private static final int LONGEST_KEY = 1_000;
    private static final Duration LONGEST_LEASE = Duration.ofDays(1);

    private LockRules() {}

    /** @throws IllegalArgumentException if the database could not take the key as it is */
    static void checkKey(@Nullable String key) {
        if (key == null) {
            throw new IllegalArgumentException("The key of a lock is null: pass a text of 1 to 1,000 bytes");
        }
        int bytes = key.getBytes(StandardCharsets.UTF_8).length;
        if (bytes == 0 || bytes > LONGEST_KEY) {
            throw new IllegalArgumentException(
                    "The key of a lock has " + bytes + " bytes of UTF-8: it must have 1 to " + LONGEST_KEY);
        }
        if (key.indexOf('\0') >= 0 || !StandardCharsets.UTF_8.newEncoder().canEncode(key)) {
            throw new IllegalArgumentException("The key of a lock contains U+0000 or a lone surrogate: remove it");
        }
    }

    /** @throws IllegalArgumentException if the lease is too short or too long */
    static void checkLease(@Nullable Duration lease) {
        if (lease == null || lease.compareTo(Duration.ofMillis(1)) < 0 || lease.compareTo(LONGEST_LEASE) > 0) {
            throw new IllegalArgumentException(
                    "The lease of a lock is " + lease + ": it must be PT0.001S to " + LONGEST_LEASE);
        }
    }
}
