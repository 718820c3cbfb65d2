package dev.twinbox;

import java.time.Duration;

/**
 * A lock that was granted by {@link KeyLocks}. Its methods may be called from any thread.
 *
 * <p>{@link #extend} and {@link #close} never wait for a transaction that has called {@link #fence}. They take effect
 * after its completion, whether it commits or rolls back. They wait up to 10 seconds for each other, and for another
 * session that holds the table.
 */
public interface KeyLock extends AutoCloseable {

    /** The token of this grant, a positive number. Later grants of any key have greater ones. */
    long token();

    /**
     * Whether the lease has not ended yet, by the clock of this process. A hint: it is cheap, and true says nothing about
     * the next moment. Only {@link #fence} decides.
     */
    boolean isHeld();

    /**
     * Starts the lease anew, from now on.
     *
     * @param lease as for {@link KeyLocks#tryLock}
     * @return false: it was not extended. The lock is lost, and {@link #isHeld} is false from then on, or another session
     *     is at its row
     * @throws IllegalArgumentException if the lease is not legal
     * @throws TwinboxException if the database cannot be used
     */
    boolean extend(Duration lease);

    /**
     * Ties the caller's JTA transaction to this lock: from here to its end nobody else is granted the key. Call it in each
     * transaction that writes under the lock, before its first write and outside of any savepoint: a savepoint that is
     * rolled back takes the fence with it. It is one round trip. Use READ COMMITTED.
     *
     * <p>It joins the caller's transaction wherever that was begun. Where a plain connection is outside of it, as on Payara
     * in an observer of {@code BEFORE_COMPLETION}, write by an EntityManager or in a session bean.
     *
     * <p>It waits up to 10 seconds for another session that holds the table, and then up to 10.5 seconds for another
     * transaction at the key; or as long as the caller's {@code lock_timeout} or {@code statement_timeout}, if that is
     * shorter. Whatever it throws, the transaction rolls back, also if it is caught.
     *
     * @throws StaleLockException if the key was granted to another holder, or the transaction cannot see the grant
     * @throws jakarta.transaction.TransactionalException if there is no active transaction
     * @throws TwinboxException if the database cannot be used, if the wait was too long, if the server lets nobody join the
     *     transaction any more, or if this thread has suspended a transaction that has fenced this lock
     */
    void fence();

    /** Gives the lock back. Never throws: what cannot be given back ends with its lease, and the log has a warning. */
    @Override
    void close();
}
