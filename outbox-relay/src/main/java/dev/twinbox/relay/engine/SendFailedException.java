package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.OutboxRecord;

/** The producer gave up on a record, at once or after it had taken it. */
final class SendFailedException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient OutboxRecord record;
    private final Throwable reason;
    private final boolean wasTaken;

    /** The producer had taken the record, and failed later. */
    SendFailedException(OutboxRecord record, Throwable reason) {
        this(record, reason, true);
    }

    private SendFailedException(OutboxRecord record, Throwable reason, boolean wasTaken) {
        super("could not send " + record + ": " + reason, reason);
        this.record = record;
        this.reason = reason;
        this.wasTaken = wasTaken;
    }

    /** The producer has not taken the record. */
    static SendFailedException notTaken(OutboxRecord record, Throwable reason) {
        return new SendFailedException(record, reason, false);
    }

    boolean wasTaken() {
        return wasTaken;
    }

    OutboxRecord record() {
        return record;
    }

    Throwable reason() {
        return reason;
    }
}
