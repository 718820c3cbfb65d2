package dev.twinbox.it;

import dev.twinbox.lock.NaiveRedisLock;

/** Counts under a lock that trusts Redis. A class of its own, since not every application has a library of Redis. */
final class NaiveCounting implements LockLoad.Counting {

    private final NaiveRedisLock lock;
    private final LockedEffects effects;

    private NaiveCounting(NaiveRedisLock lock, LockedEffects effects) {
        this.lock = lock;
        this.effects = effects;
    }

    /** For one thread. */
    static LockLoad.Counting with(int redisPort, LockedEffects effects) {
        return new NaiveCounting(new NaiveRedisLock(redisPort), effects);
    }

    @Override
    public LockLoad.Outcome count(String key, long leaseMillis, Runnable pause, long workMillis) throws Exception {
        if (!lock.take(key, leaseMillis)) {
            return LockLoad.Outcome.BUSY;
        }
        try {
            pause.run();
            effects.countWithoutFence(key, workMillis);
            return LockLoad.Outcome.COUNTED;
        } finally {
            lock.release(key);
        }
    }
}
