package dev.twinbox.lock;

import dev.twinbox.KeyLock;
import dev.twinbox.StaleLockException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/**
 * A process that takes a lock and writes when it is told to, so that it can be stopped in between. It listens on a port;
 * each line is a command, and each command has an answer of one line.
 */
final class HolderMain {

    private final String name;
    private final Ways way;
    private final LockParts parts;
    private final NaiveRedisLock naive;
    private final PausedLeases leases;
    private final BufferedReader commands;
    private final PrintWriter answers;
    private KeyLock lock;

    /** How the process locks. */
    enum Ways {
        NAIVE,
        POSTGRESQL,
        REDIS
    }

    private HolderMain(String[] arguments, BufferedReader commands, PrintWriter answers) {
        name = arguments[1];
        way = Ways.valueOf(arguments[2]);
        int redisPort = Integer.parseInt(arguments[6]);
        naive = way == Ways.NAIVE ? new NaiveRedisLock(redisPort) : null;
        leases = way == Ways.REDIS
                ? new PausedLeases(LockParts.redis("redis://127.0.0.1:" + redisPort, Integer.parseInt(arguments[7])))
                : null;
        parts = new LockParts(arguments[3], arguments[4], arguments[5], leases);
        this.commands = commands;
        this.answers = answers;
    }

    /** Port, name, way, URL, user and password of the database, port of Redis, limit of its answers. */
    public static void main(String[] arguments) throws IOException {
        try (ServerSocket listener =
                        new ServerSocket(Integer.parseInt(arguments[0]), 1, InetAddress.getLoopbackAddress());
                Socket socket = listener.accept();
                BufferedReader commands =
                        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
                PrintWriter answers = new PrintWriter(socket.getOutputStream(), true, StandardCharsets.UTF_8)) {
            HolderMain holder = new HolderMain(arguments, commands, answers);
            for (String line = commands.readLine(); line != null; line = commands.readLine()) {
                answers.println(holder.answer(line.split(" ")));
            }
        }
    }

    private String answer(String[] command) {
        try {
            return switch (command[0]) {
                case "take" -> take(command[1], Long.parseLong(command[2]));
                case "take-paused" -> takePaused(command[1], Long.parseLong(command[2]));
                case "take-by-clock" -> takeByClock(command[1], Long.parseLong(command[2]));
                case "clock" -> Long.toString(System.currentTimeMillis());
                case "warm-up" -> warmUp();
                case "redis" -> isRedisAway() ? "away" : "up";
                case "write" -> write(command[1], way != Ways.NAIVE);
                case "write-without-fence" -> write(command[1], false);
                case "close" -> {
                    lock.close();
                    yield "closed";
                }
                default -> "unknown";
            };
        } catch (StaleLockException e) {
            return "stale";
        } catch (RuntimeException e) {
            return "failed: " + e;
        }
    }

    private String take(String key, long leaseMillis) {
        if (way == Ways.NAIVE) {
            return naive.take(key, leaseMillis) ? "granted" : "empty";
        }
        Optional<KeyLock> granted = parts.tryLock(key, Duration.ofMillis(leaseMillis));
        granted.ifPresent(grant -> lock = grant);
        return granted.isPresent() ? "granted" : "empty";
    }

    /** Pauses after Redis has answered, until the next line. A naive lock has nothing more to do then. */
    private String takePaused(String key, long leaseMillis) {
        if (way == Ways.NAIVE) {
            boolean isTaken = naive.take(key, leaseMillis);
            pause(isTaken);
            return isTaken ? "granted" : "empty";
        }
        leases.isPausing = true;
        return take(key, leaseMillis);
    }

    private void pause(boolean isTaken) {
        answers.println(isTaken ? "taken" : "not taken");
        try {
            commands.readLine();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A process that has just started would let a short lease pass, and find Redis slow. */
    private String warmUp() {
        take("warm-up-" + name, 600_000);
        if (lock != null) {
            lock.close();
        }
        return leases != null && isRedisAway() ? "not ready" : "ready";
    }

    private boolean isRedisAway() {
        try {
            return leases.isHeld("warm-up-" + name, "nobody");
        } catch (QuickLeases.AwayException e) {
            return true;
        }
    }

    private String takeByClock(String key, long leaseMillis) {
        return naive.takeByClock(key, leaseMillis) ? "granted" : "empty";
    }

    private String write(String key, boolean isFenced) {
        parts.inTransaction(() -> {
            if (isFenced) {
                lock.fence();
            }
            try (Connection connection = parts.database.dataSource().getConnection()) {
                EffectDatabase.insertEffect(connection, key, name);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
            return true;
        });
        return "written";
    }

    /** Leases in Redis; after a key was taken the process says so and waits for a line. */
    private final class PausedLeases implements QuickLeases {
        private final QuickLeases redis;
        private boolean isPausing;

        PausedLeases(QuickLeases redis) {
            this.redis = redis;
        }

        @Override
        public boolean take(String key, String owner, Duration lease) throws AwayException {
            boolean isTaken = redis.take(key, owner, lease);
            if (isPausing) {
                isPausing = false;
                pause(isTaken);
            }
            return isTaken;
        }

        @Override
        public boolean isHeld(String key, String owner) throws AwayException {
            return redis.isHeld(key, owner);
        }

        @Override
        public boolean extend(String key, String owner, Duration lease) throws AwayException {
            return redis.extend(key, owner, lease);
        }

        @Override
        public void release(String key, String owner) throws AwayException {
            redis.release(key, owner);
        }

        @Override
        public void close() {
            redis.close();
        }
    }
}
