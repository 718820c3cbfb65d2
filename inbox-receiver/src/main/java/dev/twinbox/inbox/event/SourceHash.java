package dev.twinbox.inbox.event;

import dev.twinbox.CloudEventHeaders;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * The source of an event as the tables hold it: the first 64 bits of SHA-256. A CloudEvent is identified by its source
 * and id. The id alone tells most events apart, so a short form of the source is enough.
 */
public final class SourceHash {

    /** No source. Such a row or event matches every source. */
    public static final long NONE = 0;

    /** The source of the last event. Most events of a topic have the same one. */
    private volatile @Nullable Known last;

    @SuppressWarnings("ArrayRecordComponent") // never compared as a record
    private record Known(byte[] source, long hash) {}

    /**
     * The source that is part of an event's identity. {@link #NONE} if it has none, or if the id alone counts.
     *
     * @param id the place of the id
     */
    long of(ConsumerRecord<byte[], byte[]> record, Content content, Origin id) {
        if (id != Origin.Attribute.ID) {
            return NONE;
        }
        String attribute = content.attributes().get(CloudEventHeaders.SOURCE); // only in structured mode
        if (attribute != null) {
            return of(attribute);
        }
        Header header = record.headers().lastHeader(CloudEventHeaders.SOURCE);
        return header == null || header.value() == null ? NONE : known(header.value());
    }

    private long known(byte[] source) {
        Known known = last;
        if (known == null || !Arrays.equals(known.source(), source)) {
            known = new Known(source, hash(source));
            last = known;
        }
        return known.hash();
    }

    /** The source as an operator writes it. */
    public static long of(String source) {
        return hash(source.getBytes(StandardCharsets.UTF_8));
    }

    private static long hash(byte[] source) {
        if (source.length == 0) {
            return NONE;
        }
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(source);
            long hash = java.nio.ByteBuffer.wrap(digest).getLong();
            return hash == NONE ? 1 : hash;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
