package dev.twinbox.inbox.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.NoSerializer;
import dev.twinbox.inbox.Topics;
import dev.twinbox.inbox.event.Aliases;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.event.TopicFormat;
import dev.twinbox.inbox.event.UnknownType;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.Test;

class AssignedPartitionTest {

    private static final int PARTITIONS = 8;
    private static final int LANES = 4;

    private final AssignedPartition partition = new AssignedPartition(new TopicPartition("orders", 3), 0, 0, LANES);

    /** The keys of a partition are only those that the producers' hash has sent there. */
    @Test
    void theKeysOfOnePartitionAreSpreadOverAllLanes() {
        List<String> keys = java.util.stream.IntStream.range(0, 4000)
                .mapToObj(i -> "customer-" + i)
                .filter(key -> Utils.toPositive(Utils.murmur2(Topics.bytes(key))) % PARTITIONS == 3)
                .toList();
        long offset = 0;
        for (String key : keys) {
            partition.add(List.of(event(offset++, key)));
        }

        assertThat(partition.lanes())
                .extracting(lane -> partition
                        .begin(lane, Integer.MAX_VALUE, Duration.ZERO)
                        .events()
                        .size())
                .allMatch(size -> size > keys.size() / LANES / 2 && size < keys.size() / LANES * 2);
    }

    @Test
    void allEventsOfAKeyAreInOneLaneInTheOrderOfTheirOffsets() {
        for (int offset = 0; offset < 1000; offset++) {
            partition.add(List.of(event(offset, "k" + offset % 50)));
        }
        Map<String, Set<Lane>> lanes = new HashMap<>();
        for (Lane lane : partition.lanes()) {
            Map<String, Long> last = new HashMap<>();
            for (ReceivedEvent event :
                    partition.begin(lane, Integer.MAX_VALUE, Duration.ZERO).events()) {
                String key = new String(event.record().key(), java.nio.charset.StandardCharsets.UTF_8);
                lanes.computeIfAbsent(key, k -> new HashSet<>()).add(lane);
                assertThat(event.offset()).isGreaterThan(last.getOrDefault(key, -1L));
                last.put(key, event.offset());
            }
        }

        assertThat(lanes).hasSize(50).allSatisfy((key, its) -> assertThat(its).hasSize(1));
    }

    @Test
    void bytesAreCountedUntilTheirEventIsSettled() {
        partition.add(List.of(event(0, "a"), event(1, "a")));
        long both = partition.bytes();
        Lane lane = partition.lanes().stream()
                .filter(one -> one.first() != null)
                .findFirst()
                .orElseThrow();
        partition.begin(lane, 2, Duration.ZERO);
        partition.end(lane, 1);

        assertThat(both).isGreaterThan(2 * 1000);
        assertThat(partition.bytes()).isEqualTo(both / 2);
        partition.end(lane, 1);
        assertThat(partition.bytes()).isZero();
    }

    @Test
    void aLaneEndsSoonIfItsLastBatchesWereQuickAndThisOneIsNotYetSlow() {
        partition.add(List.of(event(0, "a"), event(1, "a"), event(2, "a")));
        Lane lane = partition.lanes().stream()
                .filter(one -> one.first() != null)
                .findFirst()
                .orElseThrow();
        Duration hour = Duration.ofHours(1);
        assertThat(lane.endsWithin(hour, System.nanoTime())).isFalse();
        partition.begin(lane, 1, Duration.ZERO);
        long begun = System.nanoTime();

        assertThat(lane.endsWithin(hour, begun)).isTrue();
        assertThat(lane.endsWithin(hour, begun + hour.toNanos())).isFalse();
        partition.end(lane, 1);
        partition.begin(lane, 1, Duration.ZERO);
        partition.end(lane, 1);
        partition.begin(lane, 1, Duration.ZERO);
        assertThat(lane.endsWithin(Duration.ofNanos(1), System.nanoTime())).isFalse();
        assertThat(lane.endsWithin(hour, System.nanoTime())).isTrue();
    }

    private static ReceivedEvent event(long offset, String key) {
        ConsumerRecord<byte[], byte[]> record =
                new ConsumerRecord<>("orders", 3, offset, Topics.bytes(key), new byte[1000]);
        return ReceivedEvent.of(
                record,
                new Subscription(
                        "group",
                        Map.of(),
                        Aliases.NONE,
                        TopicFormat.OfTopics.CLOUD_EVENTS,
                        UnknownType.SKIP,
                        new NoSerializer()));
    }
}
