package dev.twinbox.lock;

import dev.twinbox.config.Secret;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocketFactory;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionFactory;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisClusterException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisRedirectionException;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.providers.PooledConnectionProvider;

/**
 * Leases in Redis. Redis is asked one thing at a time and has {@value #LIMIT_MILLIS} ms for each answer. After a failure
 * it is left alone for {@value #REST_MILLIS} ms, so that a slow Redis does not slow the application down.
 *
 * <p>A crowd takes turns on {@value #MOST_CONNECTIONS} connections. That all are in use says nothing about Redis.
 *
 * <p>The only class that uses Jedis, beside {@link RedisSockets}.
 */
final class RedisLeases implements QuickLeases {

    private static final Logger LOG = System.getLogger(RedisLeases.class.getName());

    private static final int LIMIT_MILLIS = 50;
    private static final int REST_MILLIS = 1_000;
    private static final int MOST_CONNECTIONS = 16;

    /** So many limits one waits for a connection that others use. */
    private static final int PATIENCE = 20;

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
    private final int limitMillis;

    /** One for each connection. */
    private final Semaphore permits = new Semaphore(MOST_CONNECTIONS, true);

    /** Null while Redis answers. Any thread writes it. */
    private final AtomicReference<@Nullable Rest> resting = new AtomicReference<>();

    /** Whether Redis was asked of which kind it is. Any thread writes it. */
    private volatile boolean isKindKnown;

    /** A cluster has only some of the keys, so it is not asked any more. Written by any thread, never taken back. */
    private volatile boolean isCluster;

    /**
     * Connects with the first question.
     *
     * @param prefix of all keys, once it is known
     * @param threads ask the name server
     */
    RedisLeases(LockConfiguration.Redis configuration, Supplier<String> prefix, Executor threads) {
        this(configuration, prefix, LIMIT_MILLIS, new Sockets(threads, null));
    }

    /**
     * How to connect.
     *
     * @param threads ask the name server
     * @param tls sockets for TLS; null: those of this JVM
     */
    record Sockets(Executor threads, @Nullable SSLSocketFactory tls) {}

    RedisLeases(LockConfiguration.Redis configuration, Supplier<String> prefix, int limitMillis, Sockets sockets) {
        this.address = configuration.address();
        this.prefix = prefix;
        this.limitMillis = limitMillis;
        Secret password = configuration.password();
        DefaultJedisClientConfig client = DefaultJedisClientConfig.builder()
                .connectionTimeoutMillis(limitMillis)
                .socketTimeoutMillis(limitMillis)
                .user(configuration.user())
                .password(password == null ? null : password.value())
                .database(address.database())
                .build();
        this.connections = new PooledConnectionProvider(
                new ConnectionFactory(new RedisSockets(address, sockets.threads(), limitMillis, sockets.tls()), client),
                poolSettings(limitMillis));
        this.redis = new UnifiedJedis(connections, 1, Duration.ofDays(1)); // one attempt, whose parts have limits
    }

    /** Without a thread of its own and without an MBean, which would stay when the application is undeployed. */
    private static GenericObjectPoolConfig<Connection> poolSettings(int limitMillis) {
        GenericObjectPoolConfig<Connection> pool = new GenericObjectPoolConfig<>();
        pool.setMaxTotal(MOST_CONNECTIONS);
        pool.setMaxIdle(MOST_CONNECTIONS);
        pool.setMaxWait(Duration.ofMillis(limitMillis)); // never needed: the permits are as many
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
        Rest rest = takePermit();
        try {
            boolean answer = answer(this::askKind, this::askKind) && answer(question, again);
            if (rest != null && resting.compareAndSet(rest, null)) {
                LOG.log(Level.INFO, () -> "Redis at " + address + " answers again; it decides about locks");
            }
            return answer;
        } catch (RuntimeException | OutOfMemoryError e) { // an answer may be of a wrong shape, or say a wrong length
            if (isInterrupted(e)) {
                Thread.currentThread().interrupt(); // Jedis has cleared it; it says nothing about Redis
            } else if (isOfCluster(failureOf(e))) {
                leaveCluster();
            } else {
                rest(e);
            }
            throw new AwayException(e);
        } finally {
            permits.release();
        }
    }

    /** Waits for a connection that is free. Returns a rest that is over, or null if there was none. */
    private @Nullable Rest takePermit() throws AwayException {
        requireNoRest();
        try {
            if (!permits.tryAcquire((long) PATIENCE * limitMillis, TimeUnit.MILLISECONDS)) {
                throw new AwayException(new IllegalStateException("all connections to Redis are in use"));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AwayException(e);
        }
        boolean isUsed = false;
        try {
            Rest rest = requireNoRest(); // it may have begun meanwhile
            isUsed = true;
            return rest;
        } finally {
            if (!isUsed) {
                permits.release();
            }
        }
    }

    private @Nullable Rest requireNoRest() throws AwayException {
        if (isCluster) {
            throw new AwayException(new IllegalStateException("Redis is a cluster"));
        }
        Rest rest = resting.get();
        if (rest != null && !rest.isOver()) {
            throw new AwayException(new IllegalStateException("Redis has not answered a moment ago"));
        }
        return rest;
    }

    /**
     * A time in which Redis is not asked, because it has not answered.
     *
     * @param until as {@link System#nanoTime}
     */
    private record Rest(long until) {
        static Rest begun() {
            return new Rest(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(REST_MILLIS));
        }

        boolean isOver() {
            return System.nanoTime() - until >= 0;
        }
    }

    /** Asks once whether Redis is a cluster. A Redis that does not say so is taken for none. Returns true. */
    private boolean askKind() {
        if (isKindKnown) {
            return true;
        }
        try {
            if (redis.sendCommand(Protocol.Command.HELLO) instanceof List<?> hello
                    && hello.stream().anyMatch(RedisLeases::isClusterMode)) {
                throw new JedisClusterException("cluster mode");
            }
        } catch (JedisClusterException | JedisRedirectionException e) {
            throw e;
        } catch (JedisDataException e) {
            LOG.log(Level.DEBUG, () -> "Redis does not say whether it is a cluster: " + e.getMessage());
        }
        isKindKnown = true;
        return true;
    }

    /** The value of a pair, or each second one of a list: so do the two protocols answer. */
    private static boolean isClusterMode(Object part) {
        Object value = part instanceof Map.Entry<?, ?> pair ? pair.getValue() : part;
        return value instanceof byte[] text && new String(text, StandardCharsets.UTF_8).equals("cluster");
    }

    private static boolean isOfCluster(Throwable failure) {
        return failure instanceof JedisRedirectionException || failure instanceof JedisClusterException;
    }

    private void leaveCluster() {
        isCluster = true;
        LOG.log(
                Level.WARNING,
                () -> "Redis at " + address + " is a Redis Cluster, which locks do not support: set "
                        + "twinbox.locks.redis.url to a Redis without cluster mode, or twinbox.locks to postgresql. "
                        + "Until the next start the database decides about locks");
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

    private void rest(Throwable e) {
        Rest before = resting.getAndSet(Rest.begun());
        connections.getPool().clear(); // others may be broken, too
        if (before == null) {
            LOG.log(
                    Level.WARNING,
                    () -> "Redis at " + address + description(failureOf(e)) + " the database decides about locks");
        }
    }

    private static String description(Throwable failure) {
        if (failure instanceof JedisDataException) {
            return " refuses: " + reason(failure) + ". Until it takes our commands";
        }
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SSLException) {
                return " is not used, because the TLS handshake fails: " + reason(cause)
                        + ". Name it by the host name of the certificate, and let the JVM trust its authority. Until then";
            }
        }
        boolean isAnswer = !(failure instanceof JedisException);
        return isAnswer
                ? " answers what it should not (" + failure + "). Until it answers as Redis does"
                : " does not answer: " + reason(failure) + ". Until it does";
    }

    private static boolean isConnectionClosed(Throwable failure) {
        return failure instanceof JedisConnectionException
                && (failure.getCause() instanceof SocketException
                        || String.valueOf(failure.getMessage()).startsWith("Unexpected end of stream"));
    }

    private static boolean isInterrupted(Throwable e) {
        for (Throwable cause = failureOf(e); cause != null; cause = cause.getCause()) {
            if (cause instanceof InterruptedException) {
                return true;
            }
        }
        return false;
    }

    /** What the only attempt failed of. Jedis reports that there are no more attempts. */
    private static Throwable failureOf(Throwable e) {
        Throwable[] attempts = e.getSuppressed();
        return attempts.length == 0 ? e : attempts[0];
    }

    /** Without a full stop. */
    private static String reason(Throwable failure) {
        String text = String.valueOf(failure.getMessage());
        return text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
    }
}
