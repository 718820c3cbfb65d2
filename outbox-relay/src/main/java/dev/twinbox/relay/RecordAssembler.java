package dev.twinbox.relay;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.twinbox.CloudEventHeaders;
import java.nio.ByteBuffer;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;

/**
 * Makes Kafka records of rows: CloudEvents 1.0 in the Kafka binary mode. Runs once per event, so text stays in the UTF-8 in
 * which it came and what repeats is made once. Not for several threads.
 */
final class RecordAssembler {
    /** What a record costs in memory beside its bytes; also counted by {@link OutboxTable} when it cuts a page. */
    static final int OVERHEAD = 300;

    private static final Header SPEC_VERSION =
            new RecordHeader(CloudEventHeaders.SPEC_VERSION, CloudEventHeaders.SPEC_VERSION_1_0.getBytes(US_ASCII));
    private static final byte[] HEX = "0123456789abcdef".getBytes(US_ASCII);

    private final RepeatedValues<String> topics = new RepeatedValues<>(bytes -> new String(bytes, UTF_8));
    private final RepeatedValues<Header> types = headers(CloudEventHeaders.TYPE);
    private final RepeatedValues<Header> sources = headers(CloudEventHeaders.SOURCE);
    private final RepeatedValues<Header> contentTypes = headers(CloudEventHeaders.CONTENT_TYPE);
    private final RepeatedValues<String> headerNames = new RepeatedValues<>(bytes -> new String(bytes, UTF_8));
    private final EventTime eventTime = new EventTime();
    private long bytes;

    private static RepeatedValues<Header> headers(String name) {
        return new RepeatedValues<>(bytes -> new RecordHeader(name, bytes));
    }

    /** What the records assembled so far hold in memory, roughly. */
    long bytes() {
        return bytes;
    }

    /**
     * The row the result stands on, its columns as {@link OutboxTable} lists them. One that the table's constraints should have
     * kept out becomes a record that says so: it must not keep the others from being sent.
     */
    OutboxRecord assemble(ResultSet row) throws SQLException {
        byte[] key = row.getBytes(OutboxTable.KEY);
        byte[] topic = row.getBytes(OutboxTable.TOPIC);
        String topicName = topic == null ? "" : topics.of(topic);
        try {
            if (topicName.isEmpty()) {
                throw new UnreadableRowException("it has no topic");
            }
            byte[] payload = row.getBytes(OutboxTable.PAYLOAD);
            List<Header> headers = headers(row, key);
            bytes += OVERHEAD + length(key) + length(payload);
            return new OutboxRecord(
                    row.getLong(OutboxTable.SEQ), new ProducerRecord<>(topicName, null, null, key, payload, headers));
        } catch (UnreadableRowException e) {
            bytes += OVERHEAD + length(key);
            long seq = row.getLong(OutboxTable.SEQ);
            byte[] id = row.getBytes(OutboxTable.ID);
            String event = id == null ? "without an id" : new String(uuid(id), US_ASCII);
            return OutboxRecord.unreadable(
                    seq, topicName, key, "event " + event + " can not be read back: " + e.getMessage());
        }
    }

    private List<Header> headers(ResultSet row, byte @Nullable [] key) throws SQLException, UnreadableRowException {
        List<Header> headers = new ArrayList<>(10);
        headers.add(SPEC_VERSION);
        headers.add(new RecordHeader(CloudEventHeaders.ID, uuid(needed(row, OutboxTable.ID))));
        headers.add(types.of(needed(row, OutboxTable.TYPE)));
        headers.add(sources.of(needed(row, OutboxTable.SOURCE)));
        byte[] time = eventTime.rfc3339(needed(row, OutboxTable.OCCURRED_AT));
        if (time != null) {
            headers.add(new RecordHeader(CloudEventHeaders.TIME, time));
        }
        headers.add(contentTypes.of(needed(row, OutboxTable.CONTENT_TYPE)));
        if (key != null) {
            headers.add(new RecordHeader(CloudEventHeaders.PARTITION_KEY, key));
        }
        byte[] subject = row.getBytes(OutboxTable.SUBJECT);
        if (subject != null) {
            headers.add(new RecordHeader(CloudEventHeaders.SUBJECT, subject));
        }
        byte[] custom = row.getBytes(OutboxTable.HEADERS);
        if (custom != null) {
            bytes += custom.length;
            addCustom(headers, ByteBuffer.wrap(custom));
        }
        return headers;
    }

    private static byte[] needed(ResultSet row, int column) throws SQLException, UnreadableRowException {
        byte[] value = row.getBytes(column);
        if (value == null) {
            throw new UnreadableRowException("its column " + row.getMetaData().getColumnName(column)
                    + " is null, which the table should forbid");
        }
        return value;
    }

    /** PostgreSQL's binary array: dimensions, a flag, the element type, size and lower bound of each dimension, elements. */
    private void addCustom(List<Header> headers, ByteBuffer array) throws UnreadableRowException {
        int dimensions = array.getInt();
        array.getInt();
        array.getInt();
        if (dimensions > 1) {
            throw new UnreadableRowException("its headers have " + dimensions + " dimensions instead of one");
        }
        int elements = dimensions == 0 ? 0 : array.getInt();
        if (dimensions == 1) {
            array.getInt();
        }
        if (elements % 2 != 0) {
            throw new UnreadableRowException("its headers are " + elements + " texts, which is no number of pairs");
        }
        for (int i = 0; i + 1 < elements; i += 2) {
            byte[] name = element(array);
            byte[] value = element(array);
            if (name == null || value == null) {
                throw new UnreadableRowException("one of its headers is null");
            }
            headers.add(new RecordHeader(headerNames.of(name), value));
        }
    }

    private static byte @Nullable [] element(ByteBuffer array) {
        int length = array.getInt();
        if (length < 0) {
            return null;
        }
        byte[] value = new byte[length];
        array.get(value);
        return value;
    }

    /** The 36 characters of a UUID: a {@link java.util.UUID} in between would cost three objects for each event. */
    private static byte[] uuid(byte[] binary) {
        byte[] text = new byte[36];
        int at = 0;
        for (int i = 0; i < 16; i++) {
            if (i == 4 || i == 6 || i == 8 || i == 10) {
                text[at++] = '-';
            }
            text[at++] = HEX[binary[i] >> 4 & 0xf];
            text[at++] = HEX[binary[i] & 0xf];
        }
        return text;
    }

    /** Which row a record comes from, for a person who has to find it; never its payload. */
    static String describe(OutboxRecord outboxRecord) {
        ProducerRecord<byte[], byte[]> record = outboxRecord.record();
        Header id = record.headers().lastHeader(CloudEventHeaders.ID);
        String key = record.key() == null ? "null" : '"' + new String(record.key(), UTF_8) + '"';
        return "event " + (id == null ? "?" : new String(id.value(), UTF_8)) + " (topic \"" + record.topic()
                + "\", key " + key + ", seq " + outboxRecord.seq() + ", " + length(record.value()) + " payload bytes)";
    }

    private static int length(byte @Nullable [] bytes) {
        return bytes == null ? 0 : bytes.length;
    }
}
