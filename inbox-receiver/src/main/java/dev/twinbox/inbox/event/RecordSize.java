package dev.twinbox.inbox.event;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** The memory that the data of a record takes. */
final class RecordSize {

    private RecordSize() {}

    /** @param value as the handler gets it. An unwrapped value counts in addition to the record's */
    static long of(ConsumerRecord<byte[], byte[]> record, byte @Nullable [] value) {
        long sum = length(record.key()) + length(record.value());
        if (value != record.value()) {
            sum += length(value);
        }
        for (Header header : record.headers()) {
            sum += header.key().length() + length(header.value());
        }
        return sum;
    }

    private static long length(byte @Nullable [] data) {
        return data == null ? 0 : data.length;
    }
}
