package dev.twinbox.relay.jdbc;

import java.util.Locale;

/** How a row of the table of parked events stands; what each state means is told beside the table. */
public enum ParkedState {
    REFUSED,
    WAITING,
    BEHIND,
    READY,
    SENDING,
    DISCARDED,
    UNDECIDED;

    /** As the table has it. */
    public String sql() {
        return name().toLowerCase(Locale.ROOT);
    }

    static ParkedState of(String sql) {
        return valueOf(sql.toUpperCase(Locale.ROOT));
    }
}
