package dev.twinbox.lock;

import dev.twinbox.config.Secret;
import dev.twinbox.schema.LockSchema;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of locks, checked as a whole by {@link LockSettings}.
 *
 * @param dataSource JNDI name of the JTA data source
 * @param tables names of the table and the sequence
 * @param other those that another configuration of this application would choose, so that a choice that changed is
 *     noticed; null: the choice is configured
 * @param redis null: the database decides about leases
 */
record LockConfiguration(
        String dataSource,
        LockSchema tables,
        @Nullable LockSchema other,
        @Nullable Redis redis) {

    /**
     * How to reach Redis.
     *
     * @param user null: the default user
     * @param password null: none
     */
    record Redis(
            RedisAddress address,
            @Nullable String user,
            @Nullable Secret password) {}

    /** For the log. */
    @Override
    public String toString() {
        return "table " + tables.table() + " of " + dataSource
                + (redis == null ? "" : ", leases in Redis at " + redis.address());
    }
}
