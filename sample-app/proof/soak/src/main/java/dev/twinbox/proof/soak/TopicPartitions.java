package dev.twinbox.proof.soak;

import dev.twinbox.proof.landscape.Landscape;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewPartitions;

/** The partitions of the topic. Faults add to them. */
final class TopicPartitions {

    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(30);

    private final String bootstrapServers;

    TopicPartitions(String bootstrapServers) {
        this.bootstrapServers = bootstrapServers;
    }

    /** Adds a partition. Kafka may have to elect a leader first, so it may take several attempts. */
    void add() {
        long deadline = System.nanoTime() + SoakLandscape.BACK_LIMIT.toNanos();
        int wanted = number(deadline) + 1;
        while (!addedUpTo(wanted, deadline)) {
            requireBefore(deadline, "add a partition");
        }
    }

    private boolean addedUpTo(int wanted, long deadline) {
        try (Admin admin = admin()) {
            admin.createPartitions(Map.of(Landscape.TOPIC, NewPartitions.increaseTo(wanted)))
                    .all()
                    .get(ANSWER_LIMIT.toSeconds(), TimeUnit.SECONDS);
            return true;
        } catch (ExecutionException | TimeoutException e) {
            // Whatever the answer was, it may have happened.
            return number(deadline) == wanted;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while adding a partition", e);
        }
    }

    private int number(long deadline) {
        while (true) {
            try (Admin admin = admin()) {
                return Objects.requireNonNull(admin.describeTopics(Set.of(Landscape.TOPIC))
                                .allTopicNames()
                                .get(ANSWER_LIMIT.toSeconds(), TimeUnit.SECONDS)
                                .get(Landscape.TOPIC))
                        .partitions()
                        .size();
            } catch (ExecutionException | TimeoutException e) {
                requireBefore(deadline, "describe the topic");
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted while describing the topic", e);
            }
        }
    }

    /** How many there are now. */
    int number() {
        return number(System.nanoTime() + SoakLandscape.BACK_LIMIT.toNanos());
    }

    private static void requireBefore(long deadline, String what) {
        if (System.nanoTime() > deadline) {
            throw new IllegalStateException("Kafka did not " + what + " within " + SoakLandscape.BACK_LIMIT);
        }
    }

    private Admin admin() {
        Map<String, Object> settings = new HashMap<>();
        settings.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
        settings.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, (int) ANSWER_LIMIT.toMillis());
        return Admin.create(settings);
    }
}
