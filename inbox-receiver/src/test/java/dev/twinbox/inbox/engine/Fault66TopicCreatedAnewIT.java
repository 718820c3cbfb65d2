package dev.twinbox.inbox.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.kafka.OffsetPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A topic is deleted, created anew and soon longer than before. The consumer went on at its old offset: the records
 * before it came up to a minute late, after later ones of their key. After a crash or a rebalance in that minute they
 * never came.
 */
class Fault66TopicCreatedAnewIT {

    private static Database database;

    private final String topic = "anew-" + UUID.randomUUID();
    private final String group = topic;
    private final Broker broker = new Broker();

    @BeforeAll
    static void createDatabase() {
        database = new Database("fault66");
    }

    @BeforeEach
    void create() {
        broker.create(topic);
    }

    @AfterEach
    void close() {
        broker.close();
    }

    private KafkaMember member(OffsetPolicy policy) {
        return new KafkaMember(database, group, topic, policy, "earliest");
    }

    @ParameterizedTest
    @EnumSource(OffsetPolicy.class)
    void allItsRecordsAreHandledInOrder(OffsetPolicy policy) throws Exception {
        List<String> sent = new ArrayList<>(broker.send(topic, "old", 5));
        try (KafkaMember member = member(policy)) {
            member.runUntil(() -> member.handled.size() == 5 && broker.hasCommitted(group, topic, 5));
            broker.createAnew(topic);
            sent.addAll(broker.send(topic, "new", 20));

            member.runUntil(() -> member.handled.contains("new0") && broker.hasCommitted(group, topic, 20));

            assertThat(member.handled).isEqualTo(sent);
        }
    }

    /** Kafka deletes the offsets of a deleted topic, but not if the group's coordinator was away. */
    @ParameterizedTest
    @EnumSource(OffsetPolicy.class)
    void anOffsetThatWasCommittedForTheFormerTopicIsNotUsed(OffsetPolicy policy) throws Exception {
        OffsetAndMetadata committed = handleTheFormerTopic(policy);
        broker.createAnew(topic);
        broker.commit(group, topic, committed);
        List<String> sent = broker.send(topic, "new", 20);

        try (KafkaMember member = member(policy)) {
            member.runUntil(() -> broker.hasCommitted(group, topic, 20));
            assertThat(member.handled).isEqualTo(sent);
        }
    }

    private OffsetAndMetadata handleTheFormerTopic(OffsetPolicy policy) {
        broker.send(topic, "old", 5);
        try (KafkaMember member = member(policy)) {
            member.runUntil(() -> member.handled.size() == 5 && broker.hasCommitted(group, topic, 5));
        }
        return Objects.requireNonNull(broker.committed(group, topic));
    }

    /** By an earlier version, or by an operator who knows why. */
    @Test
    void anOffsetThatSomebodyElseHasSetIsUsed() throws Exception {
        handleTheFormerTopic(OffsetPolicy.AFTER_HANDLING);
        broker.createAnew(topic);
        List<String> sent = broker.send(topic, "new", 20);
        broker.commit(group, topic, new OffsetAndMetadata(8));

        try (KafkaMember member = member(OffsetPolicy.AFTER_HANDLING)) {
            member.runUntil(() -> broker.hasCommitted(group, topic, 20));
            assertThat(member.handled).isEqualTo(sent.subList(8, 20));
        }
    }
}
