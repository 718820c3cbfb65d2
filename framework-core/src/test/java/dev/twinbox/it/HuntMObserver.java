package dev.twinbox.it;

import dev.twinbox.KeyLock;
import dev.twinbox.KeyLocks;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.event.TransactionPhase;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.Optional;

/** Takes, extends and closes locks when transactions have ended. */
@ApplicationScoped
public class HuntMObserver {

    /** What happened. */
    public record Ended(String key) {}

    @Inject
    KeyLocks locks;

    static volatile String seen = "nothing";

    void after(@Observes(during = TransactionPhase.AFTER_COMPLETION) Ended ended) {
        try {
            Optional<KeyLock> lock = locks.tryLock(ended.key(), Duration.ofMinutes(10));
            seen = "granted " + lock.isPresent() + ", extended " + lock.map(each -> each.extend(Duration.ofMinutes(1)));
            lock.ifPresent(KeyLock::close);
            seen += ", after close " + locks.tryLock(ended.key(), Duration.ofMinutes(10)).isPresent();
        } catch (RuntimeException e) {
            seen = "failed " + e + " <- " + e.getCause();
        }
    }
}
