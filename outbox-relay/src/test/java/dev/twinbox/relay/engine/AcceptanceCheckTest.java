package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.TopicName;
import dev.twinbox.relay.kafka.Topic;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The relay's forecast matches what Kafka's client does. */
class AcceptanceCheckTest {

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 62, 63, 64, 127, 128, 8_000, 8_190, 8_192, 20_000, 1_048_000, 1_048_576, 3_000_000})
    void aRecordHasTheSizeThatKafkaGivesIt(int length) {
        List<Header> headers = List.of(
                new RecordHeader("ce_id", new byte[36]),
                new RecordHeader("name", new byte[length % 200]),
                new RecordHeader("empty", new byte[0]));
        byte[] key = length % 2 == 0 ? null : new byte[length % 100];
        byte[] value = length == 0 ? null : new byte[length];
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>("t", null, null, key, value, headers);

        MemoryRecords real = MemoryRecords.withRecords(
                Compression.NONE, new SimpleRecord(0, key, value, headers.toArray(Header[]::new)));

        assertThat(AcceptanceCheck.plainSize(record)).isEqualTo(real.sizeInBytes());
    }

    @Test
    void aKeyGoesToThePartitionThatKafkasPartitionerGivesIt() {
        for (int partitions : new int[] {1, 2, 3, 7, 50}) {
            Topic topic = new Topic(Topic.Status.AVAILABLE, null, partitions, 1, Topic.Key.OPTIONAL, Set.of(), 0);
            for (int i = 0; i < 1_000; i++) {
                byte[] key = ("key" + i).getBytes(StandardCharsets.UTF_8);
                assertThat(topic.partitionOf(key)).isEqualTo(BuiltInPartitioner.partitionForKey(key, partitions));
            }
        }
    }

    @Test
    void illegalNamesOfTopicsAreTold() {
        assertThat(List.of("a", "a.b_c-D9", "...", "x".repeat(249))).allMatch(TopicName::isLegal);
        assertThat(List.of("", ".", "..", "a b", "a/b", "ä", "x".repeat(250))).noneMatch(TopicName::isLegal);
    }
}
