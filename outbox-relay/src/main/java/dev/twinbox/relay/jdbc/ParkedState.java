package dev.twinbox.relay.jdbc;

import java.util.Locale;

/** The state of a row in the table of parked events. The schema's comments explain each state. */
public enum ParkedState {
    REFUSED,
    WAITING,
    BEHIND,
    READY,
    SENDING,
    DISCARDED,
    UNDECIDED;

    /** The value in the table. */
    public String sql() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static ParkedState of(String sql) {
        return valueOf(sql.toUpperCase(Locale.ROOT));
    }
}
