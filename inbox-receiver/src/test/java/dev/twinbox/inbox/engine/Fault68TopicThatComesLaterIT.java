package dev.twinbox.inbox.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.kafka.OffsetPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * A group starts at the end of topics, and waits for one that does not exist yet. Its first records were left out: they
 * came between the creation of the topic and the assignment of its partitions.
 */
class Fault68TopicThatComesLaterIT {

    private static Database database;

    private final String topic = "later-" + UUID.randomUUID();
    private final Broker broker = new Broker();

    @BeforeAll
    static void createDatabase() {
        database = new Database("fault68");
    }

    @AfterEach
    void close() {
        broker.close();
    }

    private KafkaMember member() {
        return new KafkaMember(database, topic, topic, OffsetPolicy.AFTER_HANDLING, "latest");
    }

    private boolean isNoted() {
        return database.count("inbox_event_offset where topic = ?", topic) == 1;
    }

    @Test
    void allItsRecordsAreHandled() {
        try (KafkaMember member = member()) {
            member.runUntil(this::isNoted);
            broker.create(topic);
            List<String> sent = new ArrayList<>(broker.send(topic, "first", 5));
            member.runUntil(() -> broker.hasCommitted(topic, topic, 5));
            sent.addAll(broker.send(topic, "more", 2));
            member.runUntil(() -> broker.hasCommitted(topic, topic, 7));

            assertThat(member.handled).isEqualTo(sent);
        }
    }

    @Test
    void alsoThoseThatCameWhileTheApplicationWasStartedAgain() {
        try (KafkaMember first = member()) {
            first.runUntil(this::isNoted);
        }
        broker.create(topic);
        List<String> sent = broker.send(topic, "first", 5);
        try (KafkaMember next = member()) {
            next.runUntil(() -> broker.hasCommitted(topic, topic, 5));

            assertThat(next.handled).isEqualTo(sent);
        }
    }

    @Test
    void aTopicThatIsThereIsStillReadFromItsEnd() {
        broker.create(topic);
        broker.send(topic, "before", 5);
        try (KafkaMember member = member()) {
            member.runUntil(() -> broker.hasCommitted(topic, topic, 5));
            List<String> sent = broker.send(topic, "after", 2);
            member.runUntil(() -> broker.hasCommitted(topic, topic, 7));

            assertThat(member.handled).isEqualTo(sent);
        }
    }
}
