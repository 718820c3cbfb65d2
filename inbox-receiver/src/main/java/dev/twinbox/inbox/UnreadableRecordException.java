package dev.twinbox.inbox;

import dev.twinbox.TwinboxException;

/** A record that can not be turned into an event; its message says what is missing or wrong. */
final class UnreadableRecordException extends TwinboxException {

    private static final long serialVersionUID = 1;

    UnreadableRecordException(String message) {
        super(message);
    }

    UnreadableRecordException(String message, Throwable cause) {
        super(message, cause);
    }
}
