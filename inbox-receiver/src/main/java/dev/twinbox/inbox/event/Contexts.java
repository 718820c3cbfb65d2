package dev.twinbox.inbox.event;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.EventContext;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** Makes the context that a handler gets with an event. */
final class Contexts {

    private Contexts() {}

    /** @param type current name of the event's type */
    static EventContext of(ConsumerRecord<byte[], byte[]> record, Content content, String id, String type) {
        Map<String, String> headers = new LinkedHashMap<>();
        for (Header header : record.headers()) {
            headers.put(header.key(), content.text(header));
        }
        headers.putAll(content.attributes());
        return new EventContext(
                id,
                type,
                headers.get(CloudEventHeaders.SOURCE),
                time(headers.get(CloudEventHeaders.TIME)),
                content.keyText(),
                record.topic(),
                record.partition(),
                record.offset(),
                headers);
    }

    /** A time that cannot be parsed is ignored. It is information for the handler, not part of the contract. */
    private static @Nullable Instant time(@Nullable String value) {
        try {
            return value == null ? null : OffsetDateTime.parse(value).toInstant();
        } catch (DateTimeException e) {
            return null;
        }
    }
}
