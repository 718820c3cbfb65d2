package dev.twinbox.inbox.event;

import dev.twinbox.TwinboxException;

/**
 * A record that cannot be turned into an event. The message says what is missing or wrong.
 *
 * <p><b>Remedy.</b> Correct its producer, or name another place or format in the keys of its topic.
 * Then retry or discard the parked record.
 */
public final class UnreadableRecordException extends TwinboxException {

    private static final long serialVersionUID = 1;

    public UnreadableRecordException(String message) {
        super(message);
    }

    public UnreadableRecordException(String message, Throwable cause) {
        super(message, cause);
    }
}
