package dev.twinbox.relay.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.jdbc.OutboxRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two events of one key in the first page of a producer arrived in the wrong order. The partition of the first one was
 * unknown when it was looked at, and that of the second one was known a moment later. Once a record of a key is set
 * aside in a page, all later ones of the key are.
 */
class Fault19KeyOrderTest {

    @Test
    void aTopicThatIsCreatedBetweenTwoEventsOfAKeyDoesNotSwapThem() throws Exception {
        Placer placer = new Placer(new Random(1), 1);
        placer.unknownAnswers = 1;
        List<OutboxRecord> page = page("A", "A");

        new FirstRecords().place(page, placer);

        assertThat(placer.placed).containsExactlyElementsOf(page);
        assertThat(placer.awaited)
                .as("the first record of its partition is awaited")
                .startsWith(1);
    }

    @Test
    void aTopicThatGetsMorePartitionsBetweenTwoEventsOfAKeyDoesNotSwapThem() throws Exception {
        FirstRecords firstRecords = new FirstRecords();
        Placer placer = new Placer(new Random(1), 7);
        firstRecords.place(page("A"), placer);
        placer.placed.clear();
        placer.partitionsAfterNextAnswer = 50;
        List<OutboxRecord> page = page("A", "A");

        firstRecords.place(page, placer);

        assertThat(placer.placed).containsExactlyElementsOf(page);
    }

    /** Answers are unknown at random, so each key sees all that can happen. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 10})
    void theOrderWithinEachKeyStaysWhateverIsKnownOfItsPartition(int partitions) throws Exception {
        for (int seed = 0; seed < 500; seed++) {
            Random random = new Random(seed);
            FirstRecords firstRecords = new FirstRecords();
            Placer placer = new Placer(random, partitions);
            placer.isUnknownAtRandom = true;
            List<OutboxRecord> all = new ArrayList<>();
            for (int page = 0; page < 3; page++) {
                List<OutboxRecord> records = page(IntStream.range(0, 12)
                        .mapToObj(i -> "k" + random.nextInt(4))
                        .toArray(String[]::new));
                all.addAll(records);
                firstRecords.place(records, placer);
            }
            for (int key = 0; key < 4; key++) {
                byte[] name = ("k" + key).getBytes(UTF_8);
                assertThat(of(name, placer.placed)).as("seed %s", seed).containsExactlyElementsOf(of(name, all));
            }
        }
    }

    private static List<OutboxRecord> of(byte[] key, List<OutboxRecord> records) {
        return records.stream()
                .filter(each -> Arrays.equals(key, each.record().key()))
                .toList();
    }

    private static List<OutboxRecord> page(String... keys) {
        List<OutboxRecord> records = new ArrayList<>();
        for (String key : keys) {
            records.add(
                    new OutboxRecord(records.size(), new ProducerRecord<>("topic", key.getBytes(UTF_8), new byte[0])));
        }
        return records;
    }

    /** Takes every record. */
    private static final class Placer implements FirstRecords.RecordPlacer {
        private final List<OutboxRecord> placed = new ArrayList<>();
        private final List<Integer> awaited = new ArrayList<>();
        private final Random random;
        private int partitions;
        private int unknownAnswers;
        private int partitionsAfterNextAnswer;
        private boolean isUnknownAtRandom;

        Placer(Random random, int partitions) {
            this.random = random;
            this.partitions = partitions;
        }

        @Override
        public TopicPartition partitionOf(OutboxRecord record) {
            if (unknownAnswers > 0) {
                unknownAnswers--;
                return null;
            }
            if (isUnknownAtRandom && random.nextInt(4) == 0) {
                return null;
            }
            int partition = Math.floorMod(Arrays.hashCode(record.record().key()) * 31, partitions);
            if (partitionsAfterNextAnswer > 0) {
                partitions = partitionsAfterNextAnswer;
                partitionsAfterNextAnswer = 0;
            }
            return new TopicPartition(record.topic(), partition);
        }

        @Override
        public int partitions(String topic) {
            return partitions;
        }

        @Override
        public boolean place(OutboxRecord record) {
            placed.add(record);
            return true;
        }

        @Override
        public void awaitAnswers() {
            awaited.add(placed.size());
        }
    }
}
