package dev.twinbox.inbox.jdbc;

import dev.twinbox.ParkedEvent;
import java.time.Instant;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/** A parked event that is due for a retry. Its attempt is already counted. */
public record DueEvent(ParkedEvent event) {

    public long number() {
        return event.number();
    }

    public String group() {
        return event.group();
    }

    public @Nullable String handler() {
        return event.handler();
    }

    public int attempt() {
        return event.attempts();
    }

    /** The record as Kafka delivered it. */
    public ConsumerRecord<byte[], byte[]> record() {
        RecordHeaders headers = new RecordHeaders();
        event.headers().forEach(header -> headers.add(header.name(), header.value()));
        Instant time = event.time();
        return new ConsumerRecord<>(
                event.topic(),
                event.partition(),
                event.offset(),
                time == null ? ConsumerRecord.NO_TIMESTAMP : time.toEpochMilli(),
                TimestampType.CREATE_TIME,
                ConsumerRecord.NULL_SIZE,
                ConsumerRecord.NULL_SIZE,
                event.key(),
                event.value(),
                headers,
                Optional.empty());
    }
}
