package dev.twinbox;

import java.time.Duration;
import java.util.Optional;

/**
 * Locks by key for all instances of an application, with a fence in its database. A bean to inject; applications do not
 * implement it.
 *
 * <pre>{@code
 * @Inject KeyLocks locks;
 *
 * public void bill(String customer) {
 *   Optional<KeyLock> granted = locks.tryLock("bill " + customer, Duration.ofMinutes(5));
 *   if (granted.isEmpty()) {
 *     return;                              // another one is at it
 *   }
 *   try (KeyLock lock = granted.get()) {
 *     Invoice invoice = slowSystem.invoice(customer);
 *     invoices.store(invoice, lock);       // @Transactional: calls lock.fence(), then writes
 *   }
 * }
 * }</pre>
 *
 * <p><b>What it guarantees.</b> Of all holders of a key only the latest one can write after {@link KeyLock#fence}. An
 * earlier holder is refused from the moment of the next grant, however long it was paused. What the fence lets through
 * is in the data source of the locks, in the transaction that called it.
 *
 * <p><b>What it does not guarantee.</b> A holder whose lease has ended may still work. What it does outside of the
 * database is not undone: a mail, a call of another system. Without {@code fence()} a lock is only a hint.
 *
 * <p><b>Transactions.</b> A grant is committed in a transaction of its own before this method returns. So it holds a
 * second connection for a moment when the caller has one.
 *
 * <p><b>Start.</b> Configuration, data source, tables and privileges are checked at deployment if the application injects
 * this bean or sets a key below {@code twinbox.locks}. A database or a Redis that cannot be reached then is an outage,
 * not a mistake.
 */
public interface KeyLocks {

    /**
     * Takes the lock of a key if nobody holds it. Never waits for a holder. The first grant of a key waits up to a second
     * for another one that has begun.
     *
     * @param key 1 to 1,000 bytes of UTF-8
     * @param lease how long the lock is held without {@link KeyLock#extend}, 1 millisecond to 1 day. With Redis
     *     take 100 milliseconds or more: a lease that ends before its grant is durable is not granted
     * @return empty: somebody else holds the lock, or its row is fenced by a transaction that has not ended
     * @throws IllegalArgumentException if key or lease is not legal
     * @throws TwinboxException if the database cannot be used, or another session holds the table for more than a second
     */
    Optional<KeyLock> tryLock(String key, Duration lease);

    /**
     * Takes a lock that ends with the caller's JTA transaction, or with a savepoint in it that is rolled back. It needs no
     * lease and no fence, for nobody can lose it before. It has nothing to do with {@link #tryLock}: the two do not exclude
     * each other.
     *
     * @param key as for {@link #tryLock}
     * @return whether this transaction has the lock now
     * @throws jakarta.transaction.TransactionalException if there is no active transaction
     * @throws TwinboxException if the database cannot be used, or the transaction is not READ COMMITTED
     */
    boolean tryLockInTransaction(String key);
}
