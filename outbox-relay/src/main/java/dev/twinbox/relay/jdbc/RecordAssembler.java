package dev.twinbox.relay.jdbc;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.TypeName;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
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
    private static final List<String> FIELDS = List.of(
            "seq",
            "id",
            "topic",
            "key",
            "type",
            "source",
            "subject",
            "occurred_at",
            "content_type",
            "headers",
            "payload");

    private static final int SEQ = FIELDS.indexOf("seq");
    private static final int ID = FIELDS.indexOf("id");
    private static final int TOPIC = FIELDS.indexOf("topic");
    private static final int KEY = FIELDS.indexOf("key");
    private static final int TYPE = FIELDS.indexOf("type");
    private static final int SOURCE = FIELDS.indexOf("source");
    private static final int SUBJECT = FIELDS.indexOf("subject");
    private static final int OCCURRED_AT = FIELDS.indexOf("occurred_at");
    private static final int CONTENT_TYPE = FIELDS.indexOf("content_type");
    private static final int HEADERS = FIELDS.indexOf("headers");
    private static final int PAYLOAD = FIELDS.indexOf("payload");

    /** The columns of an event beside its {@code seq}. */
    static final String COLUMNS = FIELDS.stream().skip(1).collect(Collectors.joining(", "));

    /** SQL for a row as {@link #assemble} reads it: the binary form, independent of the driver's transfer format. */
    static final String EVENT = event("seq");

    /** SQL for a withheld row: it has a number and nothing else. */
    static final String WITHHELD = "record_send(row(seq))";

    /** SQL for a row of {@code COPY}: the same columns, but only {@code seq} if it is {@code withheld}. */
    static final String TUPLE = FIELDS.stream()
            .map(column -> column.equals("seq") ? column : "case when withheld then null else " + column + " end")
            .collect(Collectors.joining(", "));

    /** SQL for a row of {@code COPY} that is no event, but has the mark of the server process. */
    static final String MARKED = FIELDS.stream()
            .map(column -> column.equals("topic") ? ServerProcess.MARK : "null")
            .collect(Collectors.joining(", "));

    /** A row that is too large to be read: number, id, topic, key, size, and size of the payload. */
    private static final int FIELDS_OF_TOO_LARGE = 6;

    private static final Header SPEC_VERSION =
            new RecordHeader(CloudEventHeaders.SPEC_VERSION, CloudEventHeaders.SPEC_VERSION_1_0.getBytes(US_ASCII));
    private static final int UUID_BYTES = 16;
    private static final byte[] HEX = "0123456789abcdef".getBytes(US_ASCII);

    private final ValueCache<String> topics = new ValueCache<>(bytes -> new String(bytes, UTF_8));
    private final ValueCache<Header> types = headers(CloudEventHeaders.TYPE);
    private final ValueCache<Header> sources = headers(CloudEventHeaders.SOURCE);
    private final ValueCache<Header> contentTypes = headers(CloudEventHeaders.CONTENT_TYPE);
    private final ValueCache<String> headerNames = new ValueCache<>(bytes -> new String(bytes, UTF_8));
    private final EventTime eventTime = new EventTime();
    private final LargestEvent largest;
    private final BinaryRow row = new BinaryRow(FIELDS.size()); // the row that is being assembled
    private final List<Header> headers = new ArrayList<>(10); // of that row; Kafka's record copies it
    private long bytes;

    /** @param largest named in the fault of a row that is too large */
    RecordAssembler(LargestEvent largest) {
        this.largest = largest;
    }

    private static ValueCache<Header> headers(String name) {
        return new ValueCache<>(bytes -> new RecordHeader(name, bytes));
    }

    LargestEvent largest() {
        return largest;
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
        int fields = row.takeRecord(rows);
        if (fields == FIELDS_OF_TOO_LARGE) {
            return tooLarge();
        }
        return fields == FIELDS.size() ? assemble() : null;
    }

    /**
     * The record of a {@link #TUPLE}, or of a row that breaks the table's constraints.
     *
     * @param message of {@code COPY}; the row reaches from {@code start} to its end
     * @return null if the row has no id: its content was withheld
     */
    @Nullable OutboxRecord assemble(byte[] message, int start) {
        takeTuple(message, start);
        return row.isNull(ID) ? null : assemble();
    }

    /** The mark of the server process, see {@link #MARKED}; null if the row is an event. */
    @Nullable String mark(byte[] message, int start) {
        takeTuple(message, start);
        byte[] mark = row.bytes(TOPIC);
        return mark == null || !row.isNull(SEQ) ? null : new String(mark, UTF_8);
    }

    private void takeTuple(byte[] message, int start) {
        if (row.takeTuple(message, start) != message.length) {
            throw new IllegalStateException("a message of COPY has " + (message.length - start)
                    + " bytes, which is not one row: connect the relay to PostgreSQL itself");
        }
    }

    private OutboxRecord tooLarge() {
        long size = (long) row.real(FIELDS_OF_TOO_LARGE - 2);
        long payload = (long) row.real(FIELDS_OF_TOO_LARGE - 1);
        bytes += size; // The page counts as large: one such row at a time is copied when it is parked.
        String fault = "event " + id() + " with seq " + seq() + " has about " + size + " bytes (" + payload
                + " payload bytes), and the producer's limit is " + largest.bytes()
                + "; it is parked without being read: " + largest.remedy();
        return OutboxRecord.unreadable(seq(), topic(), row.bytes(KEY), fault, size);
    }

    private String id() {
        return row.isNull(ID) ? "without an id" : new String(uuid(), US_ASCII);
    }

    private long seq() {
        return row.number(SEQ);
    }

    /** Empty if it has none. */
    private String topic() {
        return row.isNull(TOPIC) ? "" : row.repeated(TOPIC, topics);
    }

    private OutboxRecord assemble() {
        String topic = topic();
        byte[] key = row.bytes(KEY);
        try {
            if (topic.isEmpty()) {
                throw new UnreadableRowException("it has no topic");
            }
            addHeaders(key);
            bytes += OutboxRecord.OVERHEAD + length(key) + row.length(PAYLOAD);
            return new OutboxRecord(seq(), new ProducerRecord<>(topic, null, null, key, row.bytes(PAYLOAD), headers));
        } catch (UnreadableRowException e) {
            bytes += OutboxRecord.OVERHEAD + length(key);
            String fault = "event " + id() + " cannot be read: " + e.getMessage();
            return OutboxRecord.unreadable(seq(), topic, key, fault, row.length(PAYLOAD));
        }
    }

    private int needed(int field) throws UnreadableRowException {
        if (row.isNull(field)) {
            throw new UnreadableRowException(
                    "its column " + FIELDS.get(field) + " is null, which the table should forbid");
        }
        return field;
    }

    /** No inbox takes a longer one. Whoever publishes by plain SQL gets no error at the call. */
    private Header type() throws UnreadableRowException {
        int length = row.length(needed(TYPE));
        if (length > TypeName.MAX_BYTES) {
            throw new UnreadableRowException("its type has " + length + " bytes, allowed are " + TypeName.MAX_BYTES
                    + ": discard it, and publish it under a shorter name");
        }
        return row.repeated(TYPE, types);
    }

    private void addHeaders(byte @Nullable [] key) throws UnreadableRowException {
        headers.clear();
        headers.add(SPEC_VERSION);
        needed(ID);
        headers.add(new RecordHeader(CloudEventHeaders.ID, uuid()));
        headers.add(type());
        headers.add(row.repeated(needed(SOURCE), sources));
        byte[] time = eventTime.rfc3339(row.number(needed(OCCURRED_AT)));
        if (time != null) {
            headers.add(new RecordHeader(CloudEventHeaders.TIME, time));
        }
        headers.add(row.repeated(needed(CONTENT_TYPE), contentTypes));
        if (key != null) {
            headers.add(new RecordHeader(CloudEventHeaders.PARTITION_KEY, key));
        }
        byte[] subject = row.bytes(SUBJECT);
        if (subject != null) {
            headers.add(new RecordHeader(CloudEventHeaders.SUBJECT, subject));
        }
        ByteBuffer custom = row.buffer(HEADERS);
        if (custom != null) {
            bytes += custom.remaining();
            addCustom(custom);
        }
    }

    /**
     * Reads PostgreSQL's binary array: dimensions, a flag, the element type, size and lower bound of each dimension,
     * elements.
     */
    private void addCustom(ByteBuffer array) throws UnreadableRowException {
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
            headers.add(new RecordHeader(allowed(headerNames.of(name)), value));
        }
    }

    /** A second header of this name would give the event another id or type for some consumers. */
    private static String allowed(String header) throws UnreadableRowException {
        if (CloudEventHeaders.isReserved(header)) {
            throw new UnreadableRowException("its header \"" + header
                    + "\" is one that Twinbox sets itself from the columns of the row: discard it, and write it again"
                    + " without this header");
        }
        return header;
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
    private byte[] uuid() {
        byte[] text = new byte[36];
        int at = 0;
        for (int i = 0; i < UUID_BYTES; i++) {
            if (i == 4 || i == 6 || i == 8 || i == 10) {
                text[at++] = '-';
            }
            byte next = row.byteOf(ID, i, UUID_BYTES);
            text[at++] = HEX[next >> 4 & 0xf];
            text[at++] = HEX[next & 0xf];
        }
        return text;
    }

    private static int length(byte @Nullable [] bytes) {
        return bytes == null ? 0 : bytes.length;
    }
}
