package dev.twinbox.relay.operator;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.ParkedSelection;
import java.sql.SQLException;
import java.util.Locale;

/** What an operator decides about parked events. The relay that owns the lease does the rest. */
public enum ParkedChange {
    /** Gives events back to the relay. */
    RETRY("retried") {
        @Override
        public long count(ParkedRows rows, ParkedSelection which) throws SQLException {
            return rows.countRetryable(which);
        }

        @Override
        public long apply(ParkedRows rows, ParkedSelection which) throws SQLException {
            return rows.retry(which);
        }
    },
    /** Drops events. */
    DISCARD("discarded") {
        @Override
        public long count(ParkedRows rows, ParkedSelection which) throws SQLException {
            return rows.countDiscardable(which);
        }

        @Override
        public long apply(ParkedRows rows, ParkedSelection which) throws SQLException {
            return rows.discard(which);
        }

        @Override
        public void refuse(ParkedRows rows, ParkedSelection which) throws SQLException {
            Long number = which.numbers() == null ? null : rows.firstSending(which);
            if (number != null) {
                throw new RelayException(
                        ExitCode.USAGE,
                        "event " + number + " is being sent: it is too late to discard it, let it arrive");
            }
        }
    };

    private final String past;

    ParkedChange(String past) {
        this.past = past;
    }

    /** For messages and documents: {@code retried}. */
    public String past() {
        return past;
    }

    /** For the action log: {@code retry}. */
    public String action() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** How many would change. */
    public abstract long count(ParkedRows rows, ParkedSelection which) throws SQLException;

    /** Returns how many have changed. */
    public abstract long apply(ParkedRows rows, ParkedSelection which) throws SQLException;

    /** Fails if one of the events cannot be changed although the operator named it. */
    public void refuse(ParkedRows rows, ParkedSelection which) throws SQLException {}
}
