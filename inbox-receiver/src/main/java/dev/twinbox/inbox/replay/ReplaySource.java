package dev.twinbox.inbox.replay;

import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.jdbc.ReplayJob;
import dev.twinbox.inbox.jdbc.ReplayJob.Counts;
import dev.twinbox.inbox.jdbc.ReplayJob.Partition;
import dev.twinbox.inbox.kafka.TopicLookup;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the topic of a job. It is assigned one partition after the other, and is in no group. So offsets of the group do
 * not move, and what waits in memory is what one fetch brings.
 *
 * <p>Used by one thread.
 */
final class ReplaySource implements AutoCloseable {

    private static final Duration POLL = Duration.ofMillis(500);
    private static final Duration ANSWER = Duration.ofSeconds(5);

    private final ReplayJob job;
    private final Consumer<byte[], byte[]> consumer;
    private final TopicLookup lookup;
    private final Subscription subscription;
    private final byte @Nullable [] key;
    private int assigned = -1;
    private long position = -1;

    /** @param consumer is in no group, and never jumps to another offset; it is closed with this */
    ReplaySource(ReplayJob job, Consumer<byte[], byte[]> consumer, TopicLookup lookup, Subscription subscription) {
        this.job = job;
        this.consumer = consumer;
        this.lookup = lookup;
        this.subscription = subscription;
        String only = job.key();
        this.key = only == null ? null : only.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * What one poll has brought.
     *
     * @param events those of the handler and, if the job has one, of the key
     * @param next where the partition goes on when they are settled
     * @param others of what was left out
     */
    record Page(List<ReceivedEvent> events, long next, Counts others) {}

    /**
     * Reads on.
     *
     * @throws JobFailedException if the topic is not the one that the job was requested for, or cannot be read
     * @throws KafkaException if it cannot be read now
     */
    Page read(Partition partition) throws JobFailedException {
        TopicPartition source = new TopicPartition(job.topic(), partition.number());
        if (assigned != partition.number()) {
            assigned = -1;
            checkTopic(); // a partition that is not there would be waited for
            consumer.assign(List.of(source));
            assigned = partition.number();
            position = -1;
        }
        if (position != partition.next()) { // what was not settled is read again
            consumer.seek(source, partition.next());
        }
        try {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
            position = consumer.position(source, ANSWER);
            if (position > partition.next()) {
                checkTopic(); // after the poll, so that the records are of the topic that is checked
            }
            return page(records.records(source), Math.min(position, partition.to()), partition);
        } catch (OffsetOutOfRangeException e) {
            return afterGone(source, partition);
        }
    }

    private Page page(List<ConsumerRecord<byte[], byte[]>> records, long next, Partition partition) {
        List<ReceivedEvent> events = new ArrayList<>();
        long unreadable = 0;
        for (ConsumerRecord<byte[], byte[]> record : records) {
            if (record.offset() < partition.to() && (key == null || Arrays.equals(key, record.key()))) {
                ReceivedEvent event = ReceivedEvent.of(record, subscription);
                if (!event.isReadable()) {
                    unreadable++;
                } else if (!event.handlers().isEmpty()) {
                    events.add(event);
                }
            }
        }
        return new Page(events, next, Counts.ofUnreadable(unreadable));
    }

    /** The topic's retention was faster. */
    private Page afterGone(TopicPartition source, Partition partition) throws JobFailedException {
        checkTopic();
        long beginning = consumer.beginningOffsets(List.of(source), ANSWER).getOrDefault(source, 0L);
        if (beginning <= partition.next()) {
            throw new JobFailedException("partition " + source + " ends before offset " + partition.next()
                    + ": it has lost records. Request the job again");
        }
        long next = Math.min(beginning, partition.to());
        position = -1;
        return new Page(List.of(), next, Counts.ofGone(next - partition.next()));
    }

    private void checkTopic() throws JobFailedException {
        UUID now;
        try {
            now = lookup.id(job.topic());
        } catch (ExecutionException e) {
            throw new KafkaException("topic " + job.topic() + " cannot be looked up", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptException(e);
        }
        if (now == null) {
            throw new JobFailedException("topic \"" + job.topic()
                    + "\" does not exist any more, or may not be described. Request the job again when it is there");
        }
        if (!now.equals(job.topicId())) {
            throw new JobFailedException("topic \"" + job.topic()
                    + "\" was deleted and created anew after the job was requested. Request the job again");
        }
    }

    @Override
    public void close() {
        consumer.close(CloseOptions.timeout(Duration.ZERO));
    }
}
