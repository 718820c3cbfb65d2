package dev.twinbox.relay.jdbc;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.TypeName;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.jspecify.annotations.Nullable;

/**
 * Turns rows into Kafka records: CloudEvents 1.0 in the Kafka binary mode. It runs once per event. So text stays in the
 * UTF-8 bytes that arrived, and repeated values are made once. Not for several threads.
 */
final class RecordAssembler {
    private static final Column[] FIELDS = Column.values();

    /** The columns of an event beside its {@code seq}. */
    static final String COLUMNS =
            Arrays.stream(FIELDS).skip(1).map(Column::sqlName).collect(Collectors.joining(", "));

    /** SQL for a row as {@link #assemble} reads it: the binary form, independent of the driver's transfer format. */
    static final String EVENT = event("seq");

    /** SQL for a withheld row: it has a number and nothing else. */
    static final String WITHHELD = "record_send(row(seq))";

    /** A row that is too large to be read: number, id, topic, key, size, and size of the payload. */
    private static final int FIELDS_OF_TOO_LARGE = 6;

    private enum Column {
        SEQ,
        ID,
        TOPIC,
        KEY,
        TYPE,
        SOURCE,
        SUBJECT,
        OCCURRED_AT,
        CONTENT_TYPE,
        HEADERS,
        PAYLOAD;

        String sqlName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final Header SPEC_VERSION =
            new RecordHeader(CloudEventHeaders.SPEC_VERSION, CloudEventHeaders.SPEC_VERSION_1_0.getBytes(US_ASCII));
    private static final byte[] HEX = "0123456789abcdef".getBytes(US_ASCII);

    private final ValueCache<String> topics = new ValueCache<>(bytes -> new String(bytes, UTF_8));
    private final ValueCache<Header> types = headers(CloudEventHeaders.TYPE);
    private final ValueCache<Header> sources = headers(CloudEventHeaders.SOURCE);
    private final ValueCache<Header> contentTypes = headers(CloudEventHeaders.CONTENT_TYPE);
    private final ValueCache<String> headerNames = new ValueCache<>(bytes -> new String(bytes, UTF_8));
    private final EventTime eventTime = new EventTime();
    private final LargestEvent largest;
    private final Map<Column, byte @Nullable []> row = new EnumMap<>(Column.class); // the row that is being assembled
    private long bytes;

    /** @param largest named in the fault of a row that is too large */
    RecordAssembler(LargestEvent largest) {
        this.largest = largest;
    }

    private static ValueCache<Header> headers(String name) {
        return new ValueCache<>(bytes -> new RecordHeader(name, bytes));
    }

    /** Memory that the records assembled so far take, roughly. */
    long bytes() {
        return bytes;
    }

    /** {@link #EVENT} for a table in which another column takes the place of {@code seq}. */
    static String event(String seq) {
        return "record_send(row(" + seq + ", " + COLUMNS + "))";
    }

    /**
     * SQL for a row that is too large to be sent. Later events of its key must not overtake it. A key that is itself
     * too large is left out, because no event with it can be sent.
     */
    static String tooLarge(String seq, LargestEvent largest) {
        return "record_send(row(" + seq + ", id, left(topic, 1000), case when octet_length(key) <= " + largest.bytes()
                + " then key end, {size}, octet_length(payload)::float8))";
    }

    /**
     * The record of the next row, {@link #EVENT}, {@link #tooLarge} or {@link #WITHHELD}; null if it is withheld. A row
     * that breaks the table's constraints becomes a record with a fault. It must not block the other rows.
     */
    @Nullable OutboxRecord assemble(ByteBuffer rows) {
        int fields = rows.getInt();
        if (fields == FIELDS_OF_TOO_LARGE) {
            return tooLarge(rows);
        }
        take(rows, fields);
        return fields == FIELDS.length ? assemble() : null;
    }

    /** Reads PostgreSQL's binary record: after the number of fields, the type and the {@link #element} of each. */
    private void take(ByteBuffer rows, int fields) {
        for (int i = 0; i < fields; i++) {
            rows.getInt();
            row.put(FIELDS[i], element(rows));
        }
    }

    private OutboxRecord tooLarge(ByteBuffer rows) {
        take(rows, FIELDS_OF_TOO_LARGE - 2);
        long size = number(rows);
        long payload = number(rows);
        long seq = ByteBuffer.wrap(Objects.requireNonNull(row.get(Column.SEQ), "it has a NOT NULL constraint"))
                .getLong();
        byte[] topic = row.get(Column.TOPIC);
        bytes += size; // The page counts as large: one such row at a time is copied when it is parked.
        String fault = "event " + id() + " with seq " + seq + " has about " + size + " bytes (" + payload
                + " payload bytes), and the producer's limit is " + largest.bytes()
                + "; it is parked without being read: " + largest.remedy();
        return OutboxRecord.unreadable(seq, topic == null ? "" : topics.of(topic), row.get(Column.KEY), fault);
    }

    /** A column of type double precision; 0 if it is null. */
    private static long number(ByteBuffer rows) {
        rows.getInt();
        byte[] value = element(rows);
        return value == null ? 0 : (long) ByteBuffer.wrap(value).getDouble();
    }

    private String id() {
        byte[] id = row.get(Column.ID);
        return id == null ? "without an id" : new String(uuid(id), US_ASCII);
    }

    private OutboxRecord assemble() {
        long seq = ByteBuffer.wrap(Objects.requireNonNull(row.get(Column.SEQ), "it has a NOT NULL constraint"))
                .getLong();
        byte[] key = row.get(Column.KEY);
        byte[] topic = row.get(Column.TOPIC);
        String topicName = topic == null ? "" : topics.of(topic);
        try {
            if (topicName.isEmpty()) {
                throw new UnreadableRowException("it has no topic");
            }
            byte[] payload = row.get(Column.PAYLOAD);
            List<Header> headers = headers(key);
            bytes += OutboxRecord.OVERHEAD + length(key) + length(payload);
            return new OutboxRecord(seq, new ProducerRecord<>(topicName, null, null, key, payload, headers));
        } catch (UnreadableRowException e) {
            bytes += OutboxRecord.OVERHEAD + length(key);
            return OutboxRecord.unreadable(seq, topicName, key, "event " + id() + " cannot be read: " + e.getMessage());
        }
    }

    private byte[] needed(Column column) throws UnreadableRowException {
        byte[] value = row.get(column);
        if (value == null) {
            throw new UnreadableRowException(
                    "its column " + column.sqlName() + " is null, which the table should forbid");
        }
        return value;
    }

    /** No inbox takes a longer one. Whoever publishes by plain SQL gets no error at the call. */
    private byte[] type() throws UnreadableRowException {
        byte[] type = needed(Column.TYPE);
        if (type.length > TypeName.MAX_BYTES) {
            throw new UnreadableRowException("its type has " + type.length + " bytes, allowed are " + TypeName.MAX_BYTES
                    + ": discard it, and publish it under a shorter name");
        }
        return type;
    }

    private List<Header> headers(byte @Nullable [] key) throws UnreadableRowException {
        List<Header> headers = new ArrayList<>(10);
        headers.add(SPEC_VERSION);
        headers.add(new RecordHeader(CloudEventHeaders.ID, uuid(needed(Column.ID))));
        headers.add(types.of(type()));
        headers.add(sources.of(needed(Column.SOURCE)));
        byte[] time = eventTime.rfc3339(needed(Column.OCCURRED_AT));
        if (time != null) {
            headers.add(new RecordHeader(CloudEventHeaders.TIME, time));
        }
        headers.add(contentTypes.of(needed(Column.CONTENT_TYPE)));
        if (key != null) {
            headers.add(new RecordHeader(CloudEventHeaders.PARTITION_KEY, key));
        }
        byte[] subject = row.get(Column.SUBJECT);
        if (subject != null) {
            headers.add(new RecordHeader(CloudEventHeaders.SUBJECT, subject));
        }
        byte[] custom = row.get(Column.HEADERS);
        if (custom != null) {
            bytes += custom.length;
            addCustom(headers, ByteBuffer.wrap(custom));
        }
        return headers;
    }

    /**
     * Reads PostgreSQL's binary array: dimensions, a flag, the element type, size and lower bound of each dimension,
     * elements.
     */
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
            throw new UnreadableRowException("its headers are " + elements + " texts, which is not an even number");
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

    /** The 36 characters of a UUID. A {@link java.util.UUID} in between would cost three objects per event. */
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

    private static int length(byte @Nullable [] bytes) {
        return bytes == null ? 0 : bytes.length;
    }
}
