package dev.twinbox.inbox;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How an attempt comes by the events that it handles, and what it leaves behind; all in the attempt's transaction. */
interface Claims {

    /** What is to be done about an event for a handler. */
    enum Standing {
        /** Claimed now: call the handler. */
        TO_HANDLE,
        /** Its key waits for an earlier event: park it behind that. */
        TO_FOLLOW,
        /** Its effect has happened, or it is parked itself. */
        DONE
    }

    /** An event for a handler. */
    record Pair(Handler handler, ReceivedEvent event) {}

    /** What {@link #take} answers with. */
    interface Sink {
        void accept(String handler, String eventId, Standing standing);
    }

    /**
     * Claims what is to be handled. What it does not answer for is {@link Standing#DONE} for a handler that claims, and
     * {@link Standing#TO_HANDLE} for one that does not.
     *
     * @param pairs not empty; may hold a pair twice: it is answered for once
     */
    void take(Connection connection, List<Pair> pairs, Sink sink) throws SQLException;

    /** All handlers have returned. */
    void settle(Connection connection) throws SQLException;

    /** Whether there is something to {@link #settle}. */
    boolean hasToSettle();

    /**
     * Events as Kafka hands them over.
     *
     * @param begun number of the row that says the event was begun, see {@link ParkedTable#begin}; null: there is none
     */
    record FromKafka(
            InboxTable inbox,
            ParkedTable parked,
            String group,
            @Nullable Long begun) implements Claims {

        @Override
        public void take(Connection connection, List<Pair> pairs, Sink sink) throws SQLException {
            inbox.claim(connection, group, pairs, sink);
        }

        @Override
        public void settle(Connection connection) throws SQLException {
            if (begun != null) {
                parked.remove(connection, begun);
            }
        }

        @Override
        public boolean hasToSettle() {
            return begun != null;
        }
    }

    /** A parked event that is due. */
    record FromParking(InboxTable inbox, ParkedTable parked, ParkedTable.Due due) implements Claims {

        @Override
        public void take(Connection connection, List<Pair> pairs, Sink sink) throws SQLException {
            if (!parked.lock(connection, due)) {
                throw new GoneException(due);
            }
            if (due.handler() == null) {
                inbox.claim(connection, due.group(), pairs, sink);
                return;
            }
            for (Pair pair : pairs) {
                boolean claimed = !pair.handler().claims()
                        || inbox.claimParked(
                                connection,
                                due.group(),
                                pair.handler().name(),
                                pair.event().id());
                sink.accept(pair.handler().name(), pair.event().id(), claimed ? Standing.TO_HANDLE : Standing.DONE);
            }
        }

        @Override
        public void settle(Connection connection) throws SQLException {
            parked.remove(connection, due.number());
        }

        @Override
        public boolean hasToSettle() {
            return true;
        }
    }

    /** The parked event was settled, discarded or sent again by somebody else in the meantime. */
    final class GoneException extends RuntimeException {
        private static final long serialVersionUID = 1;

        GoneException(ParkedTable.Due due) {
            super("parked event " + due.number() + " is somebody else's now");
        }
    }
}
