package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.Delivery;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.RecordedStart;
import dev.twinbox.inbox.jdbc.ClaimResult;
import dev.twinbox.inbox.jdbc.DueEvent;
import dev.twinbox.inbox.jdbc.InboxTable;
import dev.twinbox.inbox.jdbc.InboxTable.ClaimSink;
import dev.twinbox.inbox.jdbc.InboxTable.Keys;
import dev.twinbox.inbox.jdbc.ParkedTable;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How an attempt claims the events that it handles, and what it leaves behind; all in the attempt's transaction. */
interface Claims {

    /**
     * Claims what is to be handled. A delivery without an answer is {@link ClaimResult#DONE} for a handler that claims, and
     * {@link ClaimResult#TO_HANDLE} for one that does not.
     *
     * @param deliveries not empty; one of them may be there twice: it is answered once
     */
    void take(Connection connection, List<Delivery> deliveries, ClaimSink sink) throws SQLException;

    /** Gives back what was claimed and not handled. */
    void giveBack(Connection connection, Keys keys) throws SQLException;

    /** All handlers have returned. */
    void settle(Connection connection) throws SQLException;

    /** Whether there is something to {@link #settle}. */
    boolean hasToSettle();

    /**
     * Events from Kafka.
     *
     * @param start number of the row that records the handler's start; null: there is none
     */
    record FromKafka(
            InboxTable inbox,
            ParkedTable parked,
            String group,
            @Nullable Long start) implements Claims {

        /** The same for an event whose handler's start is recorded in that row. */
        FromKafka withStart(@Nullable RecordedStart recorded) {
            return recorded == null ? this : new FromKafka(inbox, parked, group, recorded.number());
        }

        @Override
        public void take(Connection connection, List<Delivery> deliveries, ClaimSink sink) throws SQLException {
            inbox.claim(connection, group, deliveries, sink);
        }

        @Override
        public void giveBack(Connection connection, Keys keys) throws SQLException {
            inbox.unclaim(connection, group, keys);
        }

        @Override
        public void settle(Connection connection) throws SQLException {
            if (start != null) {
                parked.remove(connection, start);
            }
        }

        @Override
        public boolean hasToSettle() {
            return start != null;
        }
    }

    /** A parked event that is due. */
    record FromParking(InboxTable inbox, ParkedTable parked, DueEvent due) implements Claims {

        @Override
        public void take(Connection connection, List<Delivery> deliveries, ClaimSink sink) throws SQLException {
            if (!parked.lock(connection, due)) {
                throw new GoneException(due);
            }
            if (due.handler() == null) {
                inbox.claim(connection, due.group(), deliveries, sink);
                return;
            }
            for (Delivery delivery : deliveries) {
                Handler handler = delivery.handler();
                String id = delivery.event().id();
                boolean isClaimed = !handler.claims() || inbox.claimParked(connection, due.group(), handler.name(), id);
                sink.accept(handler.name(), id, isClaimed ? ClaimResult.TO_HANDLE : ClaimResult.DONE);
            }
        }

        @Override
        public void giveBack(Connection connection, Keys keys) throws SQLException {
            inbox.unclaim(connection, due.group(), keys);
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

    /** The parked event was settled, discarded or retried by another instance or an operator in the meantime. */
    final class GoneException extends RuntimeException {
        private static final long serialVersionUID = 1;

        GoneException(DueEvent due) {
            super("parked event " + due.number() + " is no longer this instance's");
        }
    }
}
