package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.OutboxRecord;

/** The producer gave up on a record, at once or after it had taken it. */
final class SendFailedException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient OutboxRecord record;
    private final Throwable reason;

    SendFailedException(OutboxRecord record, Throwable reason) {
        super("could not send " + record + ": " + reason, reason);
        this.record = record;
        this.reason = reason;
    }

    OutboxRecord record() {
        return record;
    }

    Throwable reason() {
        return reason;
    }
}
