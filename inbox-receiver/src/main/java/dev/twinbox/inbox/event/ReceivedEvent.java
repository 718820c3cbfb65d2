package dev.twinbox.inbox.event;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.EventContext;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * A record on its way through the receiver: what it is, who handles it, and how far that got.
 *
 * <p>Handed between poll thread and worker, never used by both at once.
 */
public final class ReceivedEvent {

    /** Objects around the data, roughly. */
    private static final long BYTES_OF_ANY = 500;

    /** Keys of the configuration that say where an event's id and type are. */
    static final String ID_SETTING = "twinbox.inbox.event-id";

    static final String TYPE_SETTING = "twinbox.inbox.event-type";

    private final ConsumerRecord<byte[], byte[]> record;
    private final Subscription subscription;
    private final @Nullable String type;
    private final List<Handler> handlers;
    private final @Nullable String id;
    private final @Nullable Content content;
    private final @Nullable String problem;

    private boolean alone;
    private long bytes;
    private int nextHandler;
    private int failures;
    private @Nullable RecordedStart start;
    private byte @Nullable [] keyHash;
    private @Nullable Class<?> readAs;
    private @Nullable Object event;
    private @Nullable EventContext context;

    private ReceivedEvent(
            ConsumerRecord<byte[], byte[]> record,
            Subscription subscription,
            @Nullable String type,
            List<Handler> handlers,
            @Nullable String id,
            @Nullable Content content,
            @Nullable String problem) {
        this.record = record;
        this.subscription = subscription;
        this.type = type;
        this.handlers = handlers;
        this.id = id;
        this.content = content;
        this.problem = problem;
    }

    /** Never throws: a record that cannot be read is reported when it is to be handled. */
    public static ReceivedEvent of(ConsumerRecord<byte[], byte[]> record, Subscription subscription) {
        String type = null;
        List<Handler> handlers = Subscription.none();
        try {
            TopicFormat format = subscription.format(record.topic());
            Content content = Content.of(record, format.value());
            type = find(content, format.type(), TYPE_SETTING);
            List<Handler> ofType = subscription.handlers(record.topic(), type);
            if (ofType == null) {
                if (subscription.unknownType() == UnknownType.PARK) {
                    throw new UnreadableRecordException(
                            "no handler takes its type " + type + ": add a handler, or an alias to one");
                }
                return new ReceivedEvent(record, subscription, type, handlers, null, null, null);
            }
            handlers = ofType;
            String id = handlers.isEmpty() ? null : find(content, format.id(), ID_SETTING);
            return new ReceivedEvent(record, subscription, type, handlers, id, content, null);
        } catch (UnreadableRecordException e) {
            return new ReceivedEvent(record, subscription, type, handlers, null, null, e.getMessage());
        }
    }

    private static String find(Content content, Origin origin, String setting) {
        try {
            return content.find(origin);
        } catch (UnreadableRecordException e) {
            throw new UnreadableRecordException(
                    e.getMessage() + "; let its producer set it right, or " + setting + " name another place", e);
        }
    }

    /** In order of their names; empty: nothing to do. */
    public List<Handler> handlers() {
        return handlers;
    }

    /** Unique id of the event; only for events that are {@link #isReadable readable} and have handlers. */
    public String id() {
        if (id == null) {
            throw new IllegalStateException(coordinates() + " has no id");
        }
        return id;
    }

    private Content content() {
        if (content == null) {
            throw new IllegalStateException(coordinates() + " is not for any handler");
        }
        return content;
    }

    public @Nullable String idOrNull() {
        return id;
    }

    public @Nullable String typeOrNull() {
        return type;
    }

    public boolean isReadable() {
        return problem == null;
    }

    /** Whether no handler of the application takes its type, and it is to be skipped. */
    public boolean isOfUnknownType() {
        return problem == null && content == null;
    }

    public UnreadableRecordException problem() {
        return new UnreadableRecordException(problem == null ? "nothing" : problem);
    }

    public ConsumerRecord<byte[], byte[]> record() {
        return record;
    }

    /** SHA-256 of the record's key, by which the parked table knows who waits for whom; null without a key. */
    public byte @Nullable [] keyHash() {
        if (keyHash == null && record.key() != null) {
            keyHash = sha256(record.key());
        }
        return keyHash;
    }

    private static byte[] sha256(byte[] data) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(data);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    public long offset() {
        return record.offset();
    }

    /** About what it takes of memory until it is settled: the record, and its value once more if that was wrapped. */
    public long bytes() {
        if (bytes == 0) {
            long sum = BYTES_OF_ANY + length(record.key()) + length(record.value());
            if (content != null && content.value() != record.value()) {
                sum += length(content.value());
            }
            for (Header header : record.headers()) {
                sum += header.key().length() + length(header.value());
            }
            bytes = sum;
        }
        return bytes;
    }

    private static long length(byte @Nullable [] data) {
        return data == null ? 0 : data.length;
    }

    String coordinates() {
        return record.topic() + "-" + record.partition() + "@" + record.offset();
    }

    /** Whether each of its handlers gets a transaction of its own; else it shares one with its neighbours. */
    public boolean isHandledAlone() {
        return alone;
    }

    /** The batch that it was in has failed, or the process may have died of it. */
    public void handleAlone() {
        alone = true;
    }

    /** When handled alone: the handlers before this one are done. */
    public int nextHandler() {
        return nextHandler;
    }

    public void handlerDone() {
        nextHandler++;
        failures = 0;
        start = null;
    }

    /** This process has recorded the start of the current handler; null if the event is parked for it. */
    public void started(@Nullable RecordedStart recorded) {
        start = recorded;
    }

    public @Nullable RecordedStart start() {
        return start;
    }

    /** Failed attempts of the current handler in a row. */
    public int failures() {
        return failures;
    }

    /** Counts one more failed attempt of the current handler; returns how many there are in a row. */
    public int failed() {
        return ++failures;
    }

    /**
     * The value as the handler wants it. Read once for handlers of one class; a value that is null, a tombstone, is null.
     *
     * @throws UnreadableRecordException if the serializer does not take it
     */
    public @Nullable Object eventFor(Handler handler) {
        byte[] value = content().value();
        Class<?> as = handler.eventClass();
        if (value == null || as == byte[].class) {
            return value;
        }
        if (readAs != as) {
            event = as == String.class ? decoded(value) : deserialize(value, as);
            readAs = as;
        }
        return event;
    }

    private static String decoded(byte[] value) {
        try {
            return Content.decoded(value, "its value of " + value.length + " bytes");
        } catch (UnreadableRecordException e) {
            throw new UnreadableRecordException(e.getMessage() + "; a handler that takes byte[] gets it as it is", e);
        }
    }

    private Object deserialize(byte[] value, Class<?> as) {
        try {
            return subscription.serializer().deserialize(value, as);
        } catch (RuntimeException e) {
            throw new UnreadableRecordException(
                    "its value of " + value.length + " bytes cannot be read as " + as.getName(), e);
        }
    }

    /** What came along with the event; made when first asked for. */
    public EventContext context() {
        if (context == null) {
            Map<String, String> headers = new LinkedHashMap<>();
            for (Header header : record.headers()) {
                headers.put(header.key(), header.value() == null ? "" : text(header.value()));
            }
            headers.putAll(content().attributes());
            context = new EventContext(
                    id(),
                    type == null ? "" : subscription.currentName(record.topic(), type),
                    headers.get(CloudEventHeaders.SOURCE),
                    time(headers.get(CloudEventHeaders.TIME)),
                    content().keyText(),
                    record.topic(),
                    record.partition(),
                    record.offset(),
                    headers);
        }
        return context;
    }

    /** A time that cannot be read is none: it is information for the handler, not part of the contract. */
    private static @Nullable Instant time(@Nullable String value) {
        try {
            return value == null ? null : OffsetDateTime.parse(value).toInstant();
        } catch (DateTimeException e) {
            return null;
        }
    }

    private static String text(byte[] value) {
        return new String(value, StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        return coordinates() + " (event " + (id == null ? "without id" : id) + ", type "
                + (type == null ? "none" : type) + ")";
    }
}
