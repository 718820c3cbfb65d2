package dev.twinbox.proof.soak;

import dev.twinbox.proof.soak.Fault.Kind;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * A topic that is deleted and created again while the relay sends.
 *
 * <p>What was on it is gone with it. So it is deleted when all that was written for it is applied. Meanwhile nothing is
 * written for it. Writing goes on as soon as it is deleted, before it is there again. No event of then and later may be
 * lost or repeated.
 *
 * <p>If it gets as many partitions as it had, none may be out of order either. If it gets another number, a record that
 * the relay had handed to its producer for the former topic may be in another partition than the next one of its key.
 * Kafka has no order between the two. So writing stops once more until all is applied. What was written in between may
 * be out of order, and nothing else.
 */
final class TopicCreatedAnew {

    private static final int FIRST_PARTITIONS = 5;
    private static final int FEWER = 2;
    private static final int MORE = 3;
    private static final short REPLICAS = 3;
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(30);
    /** For so long events are written to the new topic before the move counts as over. */
    private static final Duration MOVE = Duration.ofSeconds(10);

    private static final Duration BETWEEN_ATTEMPTS = Duration.ofMillis(500);

    private final String bootstrapServers;
    private final SeriesTraffic traffic;
    private final SeriesReader reader;
    private final Moves moves;
    private int partitions = FIRST_PARTITIONS;

    TopicCreatedAnew(String bootstrapServers, SeriesTraffic traffic, SeriesReader reader, Moves moves) {
        this.bootstrapServers = bootstrapServers;
        this.traffic = traffic;
        this.reader = reader;
        this.moves = moves;
    }

    /** Creates the topics of all series. */
    static void createFirst(String bootstrapServers) {
        for (String topic : List.of(SeriesTraffic.NOTICES, SeriesTraffic.RETURNS)) {
            repeat("create " + topic, () -> create(bootstrapServers, topic, FIRST_PARTITIONS));
        }
    }

    /**
     * Deletes the topic and creates it again.
     *
     * @param pause waits, and returns whether the run is over
     * @return false if the run was over before the topic could be deleted
     */
    boolean run(Fault fault, Pause pause) {
        int next = next(fault.kind());
        boolean isMove = next != partitions;
        boolean isDeleted = whileAllIsApplied(pause, () -> {
            if (isMove) {
                moves.begin(SeriesTraffic.NOTICE_GIVEN, last());
            }
            repeat("delete " + SeriesTraffic.NOTICES, this::delete);
        });
        if (!isDeleted) {
            return false;
        }
        pause.await(fault.length());
        partitions = next;
        repeat("create " + SeriesTraffic.NOTICES, () -> create(bootstrapServers, SeriesTraffic.NOTICES, next));
        if (isMove) {
            pause.await(MOVE);
            whileAllIsApplied(pause, () -> moves.end(last()));
        }
        return true;
    }

    private int next(Kind kind) {
        return switch (kind) {
            case FEWER_PARTITIONS -> Math.max(1, partitions - FEWER);
            case MORE_PARTITIONS -> partitions + MORE;
            default -> partitions;
        };
    }

    /** Does something while nothing is written and all is applied. Returns false if the run was over before. */
    private boolean whileAllIsApplied(Pause pause, Runnable action) {
        traffic.stopped().lock();
        try {
            boolean isApplied = awaitApplied(pause);
            if (isApplied) {
                action.run();
            }
            return isApplied;
        } finally {
            traffic.stopped().unlock();
        }
    }

    private Map<String, Long> last() {
        Map<String, Long> last = new HashMap<>();
        repeat("read the last numbers", () -> {
            try {
                last.putAll(reader.last(SeriesTraffic.NOTICE_GIVEN));
                return true;
            } catch (SQLException e) {
                return false; // asked again
            }
        });
        return last;
    }

    private boolean awaitApplied(Pause pause) {
        long deadline = System.nanoTime() + SoakLandscape.BACK_LIMIT.toNanos();
        while (!isApplied()) {
            if (pause.await(BETWEEN_ATTEMPTS)) {
                return false;
            }
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("Not all events for topic " + SeriesTraffic.NOTICES
                        + " were applied within " + SoakLandscape.BACK_LIMIT + ": " + state());
            }
        }
        return true;
    }

    private boolean isApplied() {
        try {
            return reader.isApplied(SeriesTraffic.NOTICE_GIVEN);
        } catch (SQLException e) {
            return false; // asked again
        }
    }

    private String state() {
        try {
            return reader.look().toString();
        } catch (SQLException e) {
            return e.toString();
        }
    }

    private boolean delete() throws ExecutionException, TimeoutException, InterruptedException {
        try (Admin admin = admin(bootstrapServers)) {
            admin.deleteTopics(List.of(SeriesTraffic.NOTICES)).all().get(ANSWER_LIMIT.toSeconds(), TimeUnit.SECONDS);
            return true;
        } catch (ExecutionException e) {
            // Its answer to an earlier attempt was lost.
            return e.getCause() instanceof UnknownTopicOrPartitionException;
        }
    }

    private static boolean create(String bootstrapServers, String topic, int partitions)
            throws ExecutionException, TimeoutException, InterruptedException {
        try (Admin admin = admin(bootstrapServers)) {
            NewTopic wanted = new NewTopic(topic, Optional.of(partitions), Optional.of(REPLICAS));
            admin.createTopics(List.of(wanted)).all().get(ANSWER_LIMIT.toSeconds(), TimeUnit.SECONDS);
            return true;
        } catch (ExecutionException e) {
            return e.getCause() instanceof TopicExistsException;
        }
    }

    private static void repeat(String what, Step step) {
        long deadline = System.nanoTime() + SoakLandscape.BACK_LIMIT.toNanos();
        while (true) {
            try {
                if (step.run()) {
                    return;
                }
                LockSupport.parkNanos(BETWEEN_ATTEMPTS.toNanos());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted: " + what, e);
            } catch (ExecutionException | TimeoutException e) {
                // Whatever the answer was, it is asked again.
            }
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("Could not " + what + " within " + SoakLandscape.BACK_LIMIT);
            }
        }
    }

    private static Admin admin(String bootstrapServers) {
        Map<String, Object> settings = new HashMap<>();
        settings.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
        settings.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, (int) ANSWER_LIMIT.toMillis());
        return Admin.create(settings);
    }

    /** Waits, and returns whether the run is over. */
    interface Pause {
        boolean await(Duration time);
    }

    /** Returns whether it is done. */
    private interface Step {
        boolean run() throws ExecutionException, TimeoutException, InterruptedException;
    }
}
