package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.NoSerializer;
import dev.twinbox.inbox.Topics;
import dev.twinbox.inbox.event.Aliases;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.event.TopicFormat;
import dev.twinbox.inbox.event.UnknownType;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/** The lane of a key, for tests that need two keys in different lanes. */
public final class KeyLane {

    private KeyLane() {}

    public static int of(String topic, String key, int lanes) {
        AssignedPartition partition = new AssignedPartition(new TopicPartition(topic, 0), 0, 0, lanes);
        Subscription nothing = new Subscription(
                topic, Map.of(), Aliases.NONE, TopicFormat.OfTopics.CLOUD_EVENTS, UnknownType.SKIP, new NoSerializer());
        ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>(topic, 0, 0, Topics.bytes(key), null);
        partition.add(List.of(ReceivedEvent.of(record, nothing)));
        return IntStream.range(0, lanes)
                .filter(i -> partition.lanes().get(i).first() != null)
                .findFirst()
                .orElseThrow();
    }
}
