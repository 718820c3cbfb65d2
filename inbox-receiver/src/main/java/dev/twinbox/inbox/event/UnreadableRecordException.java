package dev.twinbox.inbox.event;

import dev.twinbox.TwinboxException;

/** A record that cannot be turned into an event. The message says what is missing or wrong. */
public final class UnreadableRecordException extends TwinboxException {

    private static final long serialVersionUID = 1;

    public UnreadableRecordException(String message) {
        super(message);
    }

    public UnreadableRecordException(String message, Throwable cause) {
        super(message, cause);
    }
}
