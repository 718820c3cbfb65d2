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
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * A topic that is deleted and created again while the relay sends.
 *
 * <p>What was on it is gone with it. So it is deleted when all that was written for it is applied. Meanwhile nothing is
 * written for it. Writing goes on as soon as it is deleted, before it is there again. Then no event may be lost,
 * repeated or out of order.
 */
final class TopicCreatedAnew {

    private static final int FIRST_PARTITIONS = 5;
    private static final int FEWER = 2;
    private static final int MORE = 3;
    private static final short REPLICAS = 3;
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(30);
    private static final Duration BETWEEN_ATTEMPTS = Duration.ofMillis(500);

    private final String bootstrapServers;
    private final SeriesTraffic traffic;
    private final SeriesReader reader;
    private int partitions = FIRST_PARTITIONS;

    TopicCreatedAnew(String bootstrapServers, SeriesTraffic traffic, SeriesReader reader) {
        this.bootstrapServers = bootstrapServers;
        this.traffic = traffic;
        this.reader = reader;
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
        traffic.stopped().lock();
        try {
            if (!awaitApplied(pause)) {
                return false;
            }
            repeat("delete " + SeriesTraffic.NOTICES, this::delete);
        } finally {
            traffic.stopped().unlock();
        }
        pause.await(fault.length());
        partitions = fault.kind() == Kind.FEWER_PARTITIONS ? Math.max(1, partitions - FEWER) : partitions + MORE;
        repeat("create " + SeriesTraffic.NOTICES, () -> create(bootstrapServers, SeriesTraffic.NOTICES, partitions));
        return true;
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
                Thread.sleep(BETWEEN_ATTEMPTS.toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted: " + what, e);
            } catch (ExecutionException | TimeoutException e) {
                // Whatever the answer was, it is asked again.
            }
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("Kafka did not " + what + " within " + SoakLandscape.BACK_LIMIT);
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
