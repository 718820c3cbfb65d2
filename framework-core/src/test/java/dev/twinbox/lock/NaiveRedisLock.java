package dev.twinbox.lock;

import java.util.List;
import java.util.UUID;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisPooled;
import redis.clients.jedis.params.SetParams;

/** A lock as it is written every day: {@code SET NX PX} with a random value, given back by a script. No fence. */
public final class NaiveRedisLock implements AutoCloseable {

    private static final String RELEASE =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

    private final JedisPooled redis;
    private final String owner = UUID.randomUUID().toString();

    public NaiveRedisLock(int port) {
        redis = new JedisPooled(
                new HostAndPort("127.0.0.1", port),
                DefaultJedisClientConfig.builder().timeoutMillis(2_000).build());
    }

    public boolean take(String key, long leaseMillis) {
        return redis.set("naive:" + key, owner, SetParams.setParams().nx().px(leaseMillis)) != null;
    }

    /** Stores when the lease ends, and lets everybody compare that with the own clock. */
    boolean takeByClock(String key, long leaseMillis) {
        long now = System.currentTimeMillis();
        String end = redis.get("by-clock:" + key);
        if (end != null && Long.parseLong(end) > now) {
            return false;
        }
        redis.set("by-clock:" + key, Long.toString(now + leaseMillis));
        return true;
    }

    public void release(String key) {
        redis.eval(RELEASE, List.of("naive:" + key), List.of(owner));
    }

    @Override
    public void close() {
        redis.close();
    }
}
