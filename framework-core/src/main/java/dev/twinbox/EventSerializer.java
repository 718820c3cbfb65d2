package dev.twinbox;

/**
 * Turns events into bytes and back: the extension point of the wire format.
 *
 * <p>The default writes JSON by JSON-B. An application replaces it by a CDI bean that is an enabled alternative:
 *
 * <pre>{@code
 * @ApplicationScoped @Alternative @Priority(Interceptor.Priority.APPLICATION)
 * public class AvroSerializer implements EventSerializer { … }
 * }</pre>
 *
 * Implementations are called from many threads at once.
 */
public interface EventSerializer {

    /** Media type of what {@link #serialize} writes, for example {@code application/json}. */
    String contentType();

    /**
     * Called in the publishing transaction, on the caller's thread, when the event is published.
     *
     * @return the bytes of the record's value, which must not be changed afterwards
     * @throws RuntimeException if the event cannot be written; the caller gets it as the cause of an {@link
     *     InvalidEventException}
     */
    byte[] serialize(Object event);

    /**
     * Called on a thread of the receiver, for each record that has a handler.
     *
     * @param data a copy of the record's value
     * @throws RuntimeException if the bytes are not an event of this type
     */
    <T> T deserialize(byte[] data, Class<T> type);

    /**
     * What the receiver calls. The default here leaves it to {@link #deserialize(byte[], Class)}, whatever the handler
     * chose.
     *
     * @param reading what the handler chose by {@link InboxHandler#reading()}
     * @throws RuntimeException if the bytes are not an event of this type
     */
    default <T> T deserialize(byte[] data, Class<T> type, EventReading reading) {
        return deserialize(data, type);
    }
}
