package dev.twinbox.it;

import dev.twinbox.KeyLock;
import dev.twinbox.KeyLocks;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Inject;
import jakarta.transaction.TransactionScoped;
import java.io.Serializable;
import java.time.Duration;
import java.util.Optional;

/** Holds a lock for as long as the transaction: taken in it, closed when it has ended. */
@TransactionScoped
public class HuntMInner implements Serializable {

    private static final long serialVersionUID = 1;

    @Inject
    transient KeyLocks locks;

    private transient Optional<KeyLock> lock = Optional.empty();

    public boolean take(String key) {
        lock = locks.tryLock(key, Duration.ofMinutes(10));
        lock.ifPresent(KeyLock::fence);
        return lock.isPresent();
    }

    @PreDestroy
    void close() {
        lock.ifPresent(KeyLock::close);
    }
}
