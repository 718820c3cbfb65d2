package dev.twinbox.inbox.event;

import dev.twinbox.EventContext;
import dev.twinbox.EventReading;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * A record on its way through the receiver: its event, its handlers, and how far they got.
 *
 * <p>Poll thread and worker hand it to each other. Both never use it at the same time.
 */
public final class ReceivedEvent {

    /** Estimated size of the objects around the data. */
    private static final long OVERHEAD_BYTES = 500;

    /** Configuration keys for the places of an event's id and type. */
    static final String ID_SETTING = "twinbox.inbox.event-id";

    static final String TYPE_SETTING = "twinbox.inbox.event-type";

    static final String FORMAT_SETTING = "twinbox.inbox.value-format";

    private final ConsumerRecord<byte[], byte[]> record;
    private final Subscription subscription;
    private final @Nullable String type;
    private final List<Handler> handlers;
    private final @Nullable String id;
    private final long source;
    private final @Nullable Content content;
    private final @Nullable String problem;

    private boolean alone;
    private boolean decided;
    private long bytes;
    private int nextHandler;
    private int failures;
    private int conflicts;
    private @Nullable ParkingDecision verdict;
    private @Nullable RecordedStart start;
    private @Nullable Handler lateHandler;
    private @Nullable Throwable timeout;
    private byte @Nullable [] keyHash;
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
        this.source = id == null || content == null
                ? SourceHash.NONE
                : subscription
                        .sources()
                        .of(record, content, subscription.format(record.topic()).id());
        this.content = content;
        this.problem = problem;
        this.alone = handlers.stream().anyMatch(Handler::isPerEvent);
    }

    /** Never throws. A record that cannot be read is reported when it is to be handled. */
    public static ReceivedEvent of(ConsumerRecord<byte[], byte[]> record, Subscription subscription) {
        String type = null;
        List<Handler> handlers = Subscription.none();
        try {
            TopicFormat format = subscription.format(record.topic());
            Content content = Content.of(record, format.value());
            type = find(content, format.type(), TYPE_SETTING);
            List<Handler> ofType = subscription.handlers(record.topic(), type);
            if (ofType == null) {
                if (ConnectJson.isWrapped(type)) {
                    throw new UnreadableRecordException("no handler takes its type " + type
                            + ", which Kafka Connect's JsonConverter has wrapped: set " + FORMAT_SETTING
                            + " to connect-json, or the connector's header.converter to SimpleHeaderConverter");
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

    /**
     * The same event for handlers that only other instances have. It is not readable if it has no id.
     *
     * @param elsewhere in order of their names
     */
    public ReceivedEvent withHandlersElsewhere(List<Handler> elsewhere) {
        try {
            TopicFormat format = subscription.format(record.topic());
            Content read = Content.of(record, format.value());
            String found = find(read, format.id(), ID_SETTING);
            return new ReceivedEvent(record, subscription, type, elsewhere, found, read, null);
        } catch (UnreadableRecordException e) {
            return new ReceivedEvent(record, subscription, type, elsewhere, null, null, e.getMessage());
        }
    }

    private static String find(Content content, Origin origin, String setting) {
        try {
            return content.find(origin);
        } catch (UnreadableRecordException e) {
            throw new UnreadableRecordException(
                    e.getMessage() + "; correct its producer, or set " + setting + " to another place", e);
        }
    }

    /** The handlers in order of their names. Empty if there is nothing to do. */
    public List<Handler> handlers() {
        return handlers;
    }

    /** The unique id of the event. Only for events that are {@link #isReadable readable} and have handlers. */
    public String id() {
        if (id == null) {
            throw new IllegalStateException(coordinates() + " has no id");
        }
        return id;
    }

    /**
     * The source that together with the {@link #id} identifies the event, see {@link SourceHash}. {@link
     * SourceHash#NONE} if the id alone does.
     */
    public long source() {
        return source;
    }

    private Content content() {
        if (content == null) {
            throw new IllegalStateException(coordinates() + " has no handler");
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

    /** Whether no handler of this instance takes its type. Another instance of the group may have one. */
    public boolean isOfUnknownType() {
        return problem == null && content == null;
    }

    /** Whether it is still open what happens to an event of an unknown type. */
    public boolean isUndecided() {
        return isOfUnknownType() && !decided;
    }

    /** Called when an event of an unknown type is skipped, or parked for handlers of other instances. */
    public void decided() {
        decided = true;
    }

    public UnreadableRecordException problem() {
        return new UnreadableRecordException(problem == null ? "nothing" : problem);
    }

    public ConsumerRecord<byte[], byte[]> record() {
        return record;
    }

    /** SHA-256 of the record's key, null without a key. The parked table identifies keys by it. */
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

    /**
     * Estimates the memory that the event takes until it is settled. An unwrapped value counts in addition to the
     * record.
     */
    public long bytes() {
        if (bytes == 0) {
            bytes = OVERHEAD_BYTES + RecordSize.of(record, content == null ? record.value() : content.value());
        }
        return bytes;
    }

    String coordinates() {
        return record.topic() + "-" + record.partition() + "@" + record.offset();
    }

    /** Whether each of its handlers gets a transaction of its own. If not, the event shares one with its batch. */
    public boolean isHandledAlone() {
        return alone;
    }

    /** Called when its batch has failed, or when the process may have died because of it. */
    public void handleAlone() {
        alone = true;
    }

    /** When handled alone: the number of handlers that are done. */
    public int nextHandler() {
        return nextHandler;
    }

    public void handlerDone() {
        nextHandler++;
        failures = 0;
        conflicts = 0;
        verdict = null;
        start = null;
    }

    /** Notes the recorded start of the current handler; null if the event is parked for it. */
    public void started(@Nullable RecordedStart recorded) {
        start = recorded;
    }

    public @Nullable RecordedStart start() {
        return start;
    }

    /** Notes that a handler took longer than its limit, so that it is not called with this event again. */
    public void tookTooLong(Handler handler, Throwable cause) {
        lateHandler = handler;
        timeout = cause;
    }

    /** Null if the handler may be called. */
    public @Nullable Throwable timeoutOf(Handler handler) {
        return handler.equals(lateHandler) ? timeout : null;
    }

    /** How often the current handler has failed in a row. */
    public int failures() {
        return failures;
    }

    /** Counts one more failure of the current handler. Returns the number of failures in a row. */
    public int failed() {
        return ++failures;
    }

    /** Counts one more attempt that lost against another transaction. It is not a failure. Returns their number. */
    public int conflicted() {
        return ++conflicts;
    }

    /** How many attempts have ended without success, for whatever reason. */
    public int tries() {
        return failures + conflicts;
    }

    /** Decides that the event is to be parked for the current handler. */
    public void judged(ParkingDecision toPark) {
        verdict = toPark;
    }

    /** Null if the current handler may be called. */
    public @Nullable ParkingDecision verdict() {
        return verdict;
    }

    /**
     * The value as the handler needs it, an object of its own for each call. Whatever a call does to it, no other call
     * sees it, and the record is parked as it came. A tombstone gives null.
     *
     * @throws UnreadableRecordException if the serializer cannot read it
     */
    public @Nullable Object eventFor(Handler handler) {
        byte[] value = content().value();
        Class<?> as = handler.eventClass();
        if (value == null) {
            return null;
        }
        if (as == String.class) {
            return decoded(value);
        }
        byte[] copy = value.clone();
        return as == byte[].class ? copy : deserialize(copy, as, handler.reading());
    }

    private static String decoded(byte[] value) {
        try {
            return Content.decoded(value, "its value of " + value.length + " bytes");
        } catch (UnreadableRecordException e) {
            throw new UnreadableRecordException(
                    e.getMessage() + "; a handler with a byte[] parameter gets the bytes as they are", e);
        }
    }

    private Object deserialize(byte[] value, Class<?> as, EventReading reading) {
        try {
            return subscription.serializer().deserialize(value, as, reading);
        } catch (RuntimeException e) {
            throw new UnreadableRecordException(
                    "its value of " + value.length + " bytes cannot be read as " + as.getName(), e);
        }
    }

    /** The context of the event. Created at the first call. */
    public EventContext context() {
        if (context == null) {
            String current = type == null ? "" : subscription.currentName(record.topic(), type);
            context = Contexts.of(record, content(), id(), current);
        }
        return context;
    }

    @Override
    public String toString() {
        return coordinates() + " (event " + (id == null ? "without id" : id) + ", type "
                + (type == null ? "none" : type) + ")";
    }
}
