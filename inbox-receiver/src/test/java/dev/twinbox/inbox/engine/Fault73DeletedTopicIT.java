package dev.twinbox.inbox.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.kafka.OffsetPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A topic is deleted while the application runs. Only a topic that was missing at the start was reported. */
class Fault73DeletedTopicIT {

    private final String topic = "deleted-" + UUID.randomUUID();

    @Test
    void itIsReportedUntilItIsCreatedAgain() throws Exception {
        try (Broker broker = new Broker()) {
            broker.create(topic);
            List<String> sent = new ArrayList<>(broker.send(topic, "old", 2));
            try (KafkaMember member =
                    new KafkaMember(new Database("fault73"), topic, topic, OffsetPolicy.AFTER_HANDLING, "earliest")) {
                member.runUntil(() -> broker.hasCommitted(topic, topic, 2)
                        && member.status.troubles().isEmpty());
                broker.delete(topic);
                member.runUntil(() -> member.status.troubles().containsKey("topic " + topic));
                assertThat(member.status.troubles().get("topic " + topic)).contains("does not exist: create it");

                broker.create(topic);
                sent.addAll(broker.send(topic, "new", 3));
                member.runUntil(() -> broker.hasCommitted(topic, topic, 3)
                        && member.status.troubles().isEmpty());
                assertThat(member.handled).isEqualTo(sent);
            }
        }
    }
}
