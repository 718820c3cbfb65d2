package dev.twinbox.outbox;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A published event as it is stored: checked, complete and serialized, so that nothing of it fails later.
 *
 * @param deliverAt null: at once
 */
@SuppressWarnings("ArrayRecordComponent") // never compared; copying up to a megabyte per event would buy nothing
record OutboxRow(
        UUID id,
        String topic,
        @Nullable String key,
        String type,
        String source,
        @Nullable String subject,
        Instant occurredAt,
        String contentType,
        Map<String, String> headers,
        byte @Nullable [] payload,
        @Nullable Instant deliverAt) {

    int payloadBytes() {
        return payload == null ? 0 : payload.length;
    }

    /** Size of all text parts in UTF-8: what a Kafka record needs beside the payload and its fixed framing. */
    int attributeBytes() {
        int bytes = bytes(topic) + bytes(key) + bytes(type) + bytes(source) + bytes(subject) + bytes(contentType);
        for (Map.Entry<String, String> header : headers.entrySet()) {
            bytes += bytes(header.getKey()) + bytes(header.getValue());
        }
        return bytes;
    }

    /** Name, value, name, value, …; null for none. */
    String @Nullable [] flatHeaders() {
        if (headers.isEmpty()) {
            return null;
        }
        List<String> flat = new ArrayList<>(2 * headers.size());
        headers.forEach((name, value) -> {
            flat.add(name);
            flat.add(value);
        });
        return flat.toArray(String[]::new);
    }

    /** Length in UTF-8, counted without writing it, since every event needs it. Text has no lone surrogates. */
    private static int bytes(@Nullable String text) {
        if (text == null) {
            return 0;
        }
        int bytes = text.length();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c >= 0x800 && !Character.isSurrogate(c)) {
                bytes += 2;
            } else if (c >= 0x80) {
                bytes += 1; // also half of a surrogate pair: four bytes for two chars
            }
        }
        return bytes;
    }
}
