package dev.twinbox.lock;

import dev.twinbox.config.Secret;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.SocketException;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.providers.PooledConnectionProvider;

/**
 * Leases in Redis. Redis is asked one thing at a time and has {@value #LIMIT_MILLIS} ms for each answer. After a failure
 * it is left alone for {@value #REST_MILLIS} ms, so that a slow Redis does not slow the application down.
 *
 * <p>The only class that uses Jedis.
 */
final class RedisLeases implements QuickLeases {

    private static final Logger LOG = System.getLogger(RedisLeases.class.getName());

    private static final int LIMIT_MILLIS = 50;
    private static final int REST_MILLIS = 1_000;
    private static final int MOST_CONNECTIONS = 16;

    private static final String EXTEND = """
            if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end
            return 0""";

    private static final String RELEASE = """
            if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end
            return 0""";

    private final RedisAddress address;
    private final Supplier<String> prefix;
    private final PooledConnectionProvider connections;
    private final UnifiedJedis redis;

    /** When Redis may be asked again, as {@link System#nanoTime}; null while it answers. Any thread writes it. */
    private volatile @Nullable Long restUntil;

    /**
     * Connects with the first question.
     *
     * @param prefix of all keys, once it is known
     */
    RedisLeases(LockConfiguration.Redis configuration, Supplier<String> prefix) {
        this(configuration, prefix, LIMIT_MILLIS);
    }

    RedisLeases(LockConfiguration.Redis configuration, Supplier<String> prefix, int limitMillis) {
        this.address = configuration.address();
        this.prefix = prefix;
        Secret password = configuration.password();
        DefaultJedisClientConfig client = DefaultJedisClientConfig.builder()
                .connectionTimeoutMillis(limitMillis)
                .socketTimeoutMillis(limitMillis)
                .user(configuration.user())
                .password(password == null ? null : password.value())
                .database(address.database())
                .ssl(address.tls())
                .build();
        this.connections = new PooledConnectionProvider(
                new HostAndPort(address.host(), address.port()), client, poolSettings(limitMillis));
        this.redis = new UnifiedJedis(connections, 1, Duration.ofDays(1)); // one attempt, whose parts have limits
    }

    /** Without a thread of its own and without an MBean, which would stay when the application is undeployed. */
    private static GenericObjectPoolConfig<Connection> poolSettings(int limitMillis) {
        GenericObjectPoolConfig<Connection> pool = new GenericObjectPoolConfig<>();
        pool.setMaxTotal(MOST_CONNECTIONS);
        pool.setMaxIdle(MOST_CONNECTIONS);
        pool.setMaxWait(Duration.ofMillis(limitMillis));
        pool.setJmxEnabled(false);
        return pool;
    }

    @Override
    public boolean take(String key, String owner, Duration lease) throws AwayException {
        SetParams ifFree = SetParams.setParams().nx().px(lease.toMillis());
        String name = prefix.get() + key;
        Supplier<Boolean> question = () -> redis.set(name, owner, ifFree) != null;
        // The first question may have been heard, and only its answer was lost.
        return ask(question, () -> question.get() || owner.equals(redis.get(name)));
    }

    @Override
    public boolean isHeld(String key, String owner) throws AwayException {
        return ask(() -> owner.equals(redis.get(prefix.get() + key)));
    }

    @Override
    public boolean extend(String key, String owner, Duration lease) throws AwayException {
        List<String> arguments = List.of(owner, Long.toString(lease.toMillis()));
        return ask(() -> Long.valueOf(1).equals(redis.eval(EXTEND, List.of(prefix.get() + key), arguments)));
    }

    @Override
    public void release(String key, String owner) throws AwayException {
        ask(() -> redis.eval(RELEASE, List.of(prefix.get() + key), List.of(owner)) != null);
    }

    @Override
    public void close() {
        redis.close();
    }

    private boolean ask(Supplier<Boolean> question) throws AwayException {
        return ask(question, question);
    }

    private boolean ask(Supplier<Boolean> question, Supplier<Boolean> again) throws AwayException {
        Long rest = restUntil;
        if (rest != null && System.nanoTime() - rest < 0) {
            throw new AwayException(new IllegalStateException("Redis has not answered a moment ago"));
        }
        try {
            boolean answer = answer(question, again);
            if (rest != null) {
                restUntil = null;
                LOG.log(Level.INFO, () -> "Redis at " + address + " answers again; it decides about locks");
            }
            return answer;
        } catch (JedisException e) {
            if (isInterrupted(e)) {
                Thread.currentThread().interrupt(); // Jedis has cleared it; it says nothing about Redis
            } else {
                rest(e, rest == null);
            }
            throw new AwayException(e);
        }
    }

    /** Redis closes connections that were idle, and all when it starts again. The next one is new. */
    private boolean answer(Supplier<Boolean> question, Supplier<Boolean> again) {
        try {
            return question.get();
        } catch (JedisException e) {
            if (!isConnectionClosed(failureOf(e))) {
                throw e;
            }
            connections.getPool().clear();
            return again.get();
        }
    }

    private void rest(JedisException e, boolean isFirst) {
        restUntil = System.nanoTime() + Duration.ofMillis(REST_MILLIS).toNanos();
        connections.getPool().clear(); // others may be broken, too
        if (isFirst) {
            Throwable failure = failureOf(e);
            String what = failure instanceof JedisDataException ? " refuses: " : " does not answer: ";
            String end = failure instanceof JedisDataException ? "Until it takes our commands" : "Until it does";
            LOG.log(
                    Level.WARNING,
                    () -> "Redis at " + address + what + reason(failure) + ". " + end
                            + " the database decides about locks");
        }
    }

    private static boolean isConnectionClosed(Throwable failure) {
        return failure instanceof JedisConnectionException
                && (failure.getCause() instanceof SocketException
                        || String.valueOf(failure.getMessage()).startsWith("Unexpected end of stream"));
    }

    private static boolean isInterrupted(JedisException e) {
        for (Throwable cause = failureOf(e); cause != null; cause = cause.getCause()) {
            if (cause instanceof InterruptedException) {
                return true;
            }
        }
        return false;
    }

    /** What the only attempt failed of. Jedis reports that there are no more attempts. */
    private static Throwable failureOf(JedisException e) {
        Throwable[] attempts = e.getSuppressed();
        return attempts.length == 0 ? e : attempts[0];
    }

    /** Without a full stop. */
    private static String reason(Throwable failure) {
        String text = String.valueOf(failure.getMessage());
        return text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
    }
}
