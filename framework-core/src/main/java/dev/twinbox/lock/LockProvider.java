package dev.twinbox.lock;

import java.util.Locale;

/** Who decides about a lease. The fence is in the database with either. */
enum LockProvider {
    POSTGRESQL,
    REDIS;

    /** As it stands in the configuration. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
