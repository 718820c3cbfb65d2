package dev.twinbox.relay.jdbc;

/**
 * The largest event that the relay's producers can send. A larger row is parked, and its content is never read: it
 * could use up the memory of the relay.
 *
 * @param bytes largest request of the producer
 * @param remedy what the operator can do about a larger event
 */
public record LargestEvent(long bytes, String remedy) {
    /** Everything is read. */
    public static final LargestEvent UNLIMITED = new LargestEvent(Long.MAX_VALUE / 2, "");

    /** A legal topic has at most so many bytes. The topic is counted for a page, but is not part of a request. */
    private static final int TOPIC = 249;

    /** The limit for a row as it is counted for a page. A row below it may still be too large for the producer. */
    long countedBytes() {
        return bytes + OutboxRecord.OVERHEAD + TOPIC;
    }
}
