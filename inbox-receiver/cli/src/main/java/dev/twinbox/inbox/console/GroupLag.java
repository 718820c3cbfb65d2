package dev.twinbox.inbox.console;

import dev.twinbox.console.operator.JsonText;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How far a consumer group is, as Kafka says.
 *
 * @param state of the group, as Kafka names it: {@code Stable}; null: not known
 * @param members how many it has; null: not known
 * @param partitions that it has committed or remembered an offset of, by topic and number
 * @param problem why Kafka says nothing of this group, and the remedy; null: it does
 */
record GroupLag(
        String group,
        @Nullable String state,
        @Nullable Integer members,
        List<Partition> partitions,
        @Nullable String problem) {

    /**
     * One partition.
     *
     * @param committed the group's offset on Kafka; null: it has none there
     * @param remembered the group's offset in the inbox database; null: it has none there
     * @param end after the last record that is committed; null: not known
     */
    record Partition(
            String topic,
            int number,
            @Nullable Long committed,
            @Nullable Long remembered,
            @Nullable Long end) {

        /** How many records are to be read; null: not known. Kafka's offset counts, and without it the remembered one. */
        @Nullable Long lag() {
            Long offset = committed == null ? remembered : committed;
            return offset == null || end == null ? null : Long.valueOf(Math.max(0, end - offset));
        }

        private JsonText json() {
            return new JsonText()
                    .with("topic", topic)
                    .with("partition", number)
                    .with("committed", committed)
                    .with("remembered", remembered)
                    .with("end", end)
                    .with("lag", lag());
        }
    }

    /** Nothing is known but what the database remembers. */
    static GroupLag unknown(String group, List<Partition> remembered) {
        return new GroupLag(group, null, null, remembered, null);
    }

    /** Of all partitions together; null: not known of one of them, or there is none yet. */
    @Nullable Long lag() {
        if (partitions.isEmpty()) {
            return null; // An offset that nobody has read is not the end.
        }
        long sum = 0;
        for (Partition each : partitions) {
            Long lag = each.lag();
            if (lag == null) {
                return null;
            }
            sum += lag;
        }
        return sum;
    }

    /** Whether the group's offset in the partition of a record is after it; null: not known. */
    @Nullable Boolean hasPassed(String topic, int partition, long offset) {
        for (Partition each : partitions) {
            Long reached = each.committed() == null ? each.remembered() : each.committed();
            if (each.topic().equals(topic) && each.number() == partition && reached != null) {
                return reached > offset;
            }
        }
        return null;
    }

    JsonText json() {
        return new JsonText()
                .with("group", group)
                .with("state", state)
                .with("members", members)
                .with("lag", lag())
                .with("partitions", partitions.stream().map(Partition::json).toList())
                .with("problem", problem);
    }
}
