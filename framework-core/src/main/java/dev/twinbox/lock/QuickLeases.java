package dev.twinbox.lock;

import java.time.Duration;

/**
 * A store of leases besides the database. It decides who gets a lock, so what it says may be wrong without harm.
 *
 * <p>An interface, so that no class of the store's library is loaded in an application that does not use it.
 */
interface QuickLeases extends AutoCloseable {

    /** The store does not answer, or answers with an error. */
    final class AwayException extends Exception {
        private static final long serialVersionUID = 1;

        AwayException(Throwable cause) {
            super(cause);
        }
    }

    /** Takes the key for an owner if no other has it. */
    boolean take(String key, String owner, Duration lease) throws AwayException;

    /** Whether the key is the owner's. */
    boolean isHeld(String key, String owner) throws AwayException;

    /** Starts the lease anew if the key is the owner's; returns whether it is. */
    boolean extend(String key, String owner, Duration lease) throws AwayException;

    /** Gives the key back if it is the owner's. */
    void release(String key, String owner) throws AwayException;

    @Override
    void close();
}
