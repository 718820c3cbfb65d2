package dev.twinbox.inbox.console;

import dev.twinbox.ParkedEvent;
import dev.twinbox.inbox.jdbc.HandlerTable;
import dev.twinbox.inbox.jdbc.ParkedSelection;
import dev.twinbox.inbox.jdbc.SelectedRows;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/** What an operator decides about parked events. The running application does the rest. */
public enum ParkedChange {
    /** Has events tried again. */
    RETRY("retried") {
        @Override
        public long count(Connection connection, SelectedRows rows, ParkedSelection which) throws SQLException {
            return rows.countRetryable(connection, which);
        }

        @Override
        long apply(Connection connection, SelectedRows rows, ParkedSelection which, SelectedRows.Listener listener)
                throws SQLException {
            return rows.retryAll(connection, which, listener);
        }

        /** Nobody takes an event whose handler was renamed or removed. */
        @Override
        public List<String> warnings(Connection connection, SqlIdentifier inbox, ParkedSelection which)
                throws SQLException {
            List<ParkedEvent> events = new SelectedRows(inbox).list(connection, which, MOST_WARNED);
            return HandlerTable.of(inbox).unowned(connection, null).stream()
                    .filter(unowned -> events.stream()
                            .anyMatch(event -> unowned.group().equals(event.group())
                                    && unowned.handler().equals(event.handler())
                                    && Objects.equals(unowned.type(), event.eventType())))
                    .map(unowned -> "No running instance has handler " + unowned.handler() + " for type "
                            + unowned.type() + ", so nobody takes its events. If it was renamed: parked"
                            + " hand-over --from " + unowned.handler() + " --to <new name>")
                    .toList();
        }
    },
    /** Gives events up. */
    DISCARD("discarded") {
        @Override
        public long count(Connection connection, SelectedRows rows, ParkedSelection which) throws SQLException {
            return rows.count(connection, which);
        }

        @Override
        long apply(Connection connection, SelectedRows rows, ParkedSelection which, SelectedRows.Listener listener)
                throws SQLException {
            return rows.discardAll(connection, which, listener);
        }
    };

    /** Most events that are looked at. */
    private static final int MOST_WARNED = 1_000;

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
    public abstract long count(Connection connection, SelectedRows rows, ParkedSelection which) throws SQLException;

    /** Returns how many have changed. */
    abstract long apply(Connection connection, SelectedRows rows, ParkedSelection which, SelectedRows.Listener listener)
            throws SQLException;

    /** What will not go as the operator may expect. */
    public List<String> warnings(Connection connection, SqlIdentifier inbox, ParkedSelection which)
            throws SQLException {
        return List.of();
    }
}
