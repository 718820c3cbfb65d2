package dev.twinbox.console.search;

import dev.twinbox.CloudEventHeaders;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * Looks for events on topics, for an operator. It reads without a group, so it moves nobody's offsets, and only what
 * consumers of committed records see. For one thread.
 */
public final class TopicSearch implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(200);

    /**
     * What is looked for on one topic.
     *
     * @param key whose partition is read; null: all partitions are
     * @param ids of the events; empty: all records of the key
     * @param since records from this time on are read; null: the last ones
     */
    public record Wanted(
            String topic,
            @Nullable String key,
            Set<String> ids,
            @Nullable Instant since) {}

    /** Where the records were looked for, and those that were found. */
    public record Result(SearchedPlace place, List<TopicRecord> records) {}

    private final KafkaAccess kafka;
    private final SearchLimit limit;
    private @Nullable Consumer<byte[], byte[]> consumer;

    /** @param limit of records and time, for all topics together */
    public TopicSearch(KafkaAccess kafka, SearchLimit limit) {
        this.kafka = kafka;
        this.limit = limit;
    }

    /** Reads the topic; what prevents it is in the result. */
    public Result on(Wanted wanted) {
        if (limit.left() == 0) {
            return problem(wanted, "the search has taken too long before: name the topic, or the time");
        }
        try {
            List<TopicPartition> partitions = partitions(wanted);
            return partitions.isEmpty()
                    ? problem(wanted, "it does not exist: create it, Twinbox never does")
                    : new Reading(wanted, partitions).run();
        } catch (TopicAuthorizationException e) {
            return problem(wanted, "it may not be read: grant " + kafka.principal() + " Read on it");
        } catch (InvalidTopicException e) {
            return problem(wanted, "it is not a legal topic name; correct it");
        } catch (AuthenticationException e) {
            return problem(wanted, kafka.login().apply(e));
        } catch (KafkaException e) {
            return problem(
                    wanted,
                    "Kafka at " + kafka.brokers() + " cannot be asked: " + e.getMessage()
                            + "; check the brokers and the network");
        }
    }

    private static Result problem(Wanted wanted, String problem) {
        return new Result(SearchedPlace.withProblem("topic " + wanted.topic(), problem), List.of());
    }

    private List<TopicPartition> partitions(Wanted wanted) {
        List<PartitionInfo> all = consumer().partitionsFor(wanted.topic(), limit.timeLeft());
        List<TopicPartition> partitions = new ArrayList<>();
        String key = wanted.key();
        for (PartitionInfo each : all == null ? List.<PartitionInfo>of() : all) {
            if (key == null || each.partition() == KeyPartition.of(key.getBytes(StandardCharsets.UTF_8), all.size())) {
                partitions.add(new TopicPartition(each.topic(), each.partition()));
            }
        }
        return partitions;
    }

    private Consumer<byte[], byte[]> consumer() {
        Consumer<byte[], byte[]> present = consumer;
        if (present == null) {
            ByteArrayDeserializer bytes = new ByteArrayDeserializer();
            present = new KafkaConsumer<>(kafka.consumer(), bytes, bytes);
            consumer = present;
        }
        return present;
    }

    /** Through the chosen partitions of one topic, from a time until where they end now. */
    private final class Reading {
        private final Wanted wanted;
        private final byte @Nullable [] key;
        private final List<TopicPartition> partitions;
        private final Set<String> missing;
        private final List<TopicRecord> found = new ArrayList<>();
        private Map<TopicPartition, Long> ends = Map.of();
        private boolean isBegunLate;
        private long read;
        private @Nullable Instant first;
        private @Nullable Instant last;

        private Reading(Wanted wanted, List<TopicPartition> partitions) {
            this.wanted = wanted;
            this.partitions = partitions;
            this.missing = new TreeSet<>(wanted.ids());
            String text = wanted.key();
            this.key = text == null ? null : text.getBytes(StandardCharsets.UTF_8);
        }

        private Result run() {
            consumer().assign(partitions);
            ends = consumer().endOffsets(partitions, limit.timeLeft());
            seek();
            while (!isAtEnd() && !isFound() && limit.left() > 0) {
                for (ConsumerRecord<byte[], byte[]> each : consumer().poll(POLL)) {
                    look(each);
                }
            }
            return new Result(
                    new SearchedPlace(name(), read, !isFound() && (isBegunLate || !isAtEnd()), first, last, null),
                    List.copyOf(found));
        }

        private void seek() {
            Instant since = wanted.since();
            Map<TopicPartition, Long> begins = consumer().beginningOffsets(partitions, limit.timeLeft());
            Map<TopicPartition, OffsetAndTimestamp> times = new HashMap<>();
            if (since != null) {
                Map<TopicPartition, Long> asked = new HashMap<>();
                partitions.forEach(each -> asked.put(each, Math.max(0, since.toEpochMilli())));
                times.putAll(consumer().offsetsForTimes(asked, limit.timeLeft()));
            }
            long share = Math.max(1, limit.left() / partitions.size());
            for (TopicPartition each : partitions) {
                OffsetAndTimestamp time = times.get(each);
                long begin = begins.getOrDefault(each, 0L);
                long latest = Math.max(begin, end(each) - share);
                isBegunLate |= since == null && latest > begin;
                consumer().seek(each, since == null ? latest : time == null ? end(each) : time.offset());
            }
        }

        private long end(TopicPartition partition) {
            return ends.getOrDefault(partition, 0L);
        }

        private boolean isAtEnd() {
            return partitions.stream().allMatch(each -> consumer().position(each) >= end(each));
        }

        private boolean isFound() {
            return !wanted.ids().isEmpty() && missing.isEmpty();
        }

        private void look(ConsumerRecord<byte[], byte[]> each) {
            read++;
            limit.count(1);
            Instant time = Instant.ofEpochMilli(each.timestamp());
            first = first == null || time.isBefore(first) ? time : first;
            last = last == null || time.isAfter(last) ? time : last;
            String id = text(each, CloudEventHeaders.ID);
            if (id == null) {
                return; // No relay has sent it.
            }
            boolean isWanted = wanted.ids().isEmpty()
                    ? key != null && Arrays.equals(key, each.key())
                    : wanted.ids().contains(id);
            if (isWanted) {
                found.add(new TopicRecord(
                        each.topic(), each.partition(), each.offset(), time, id, text(each, CloudEventHeaders.TYPE)));
                missing.remove(id);
            }
        }

        private static @Nullable String text(ConsumerRecord<byte[], byte[]> record, String name) {
            Header header = record.headers().lastHeader(name);
            return header == null || header.value() == null ? null : new String(header.value(), StandardCharsets.UTF_8);
        }

        private String name() {
            String numbers =
                    partitions.size() == 1 ? ", partition " + partitions.get(0).partition() : "";
            return "topic " + wanted.topic() + numbers;
        }
    }

    @Override
    public void close() {
        if (consumer != null) {
            consumer.close(CloseOptions.timeout(Duration.ZERO));
            consumer = null;
        }
    }
}
