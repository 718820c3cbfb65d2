package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.Delivery;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.RecordedStart;
import dev.twinbox.inbox.jdbc.ClaimResult;
import dev.twinbox.inbox.jdbc.ClaimSession;
import dev.twinbox.inbox.jdbc.DueEvent;
import dev.twinbox.inbox.jdbc.InboxTable;
import dev.twinbox.inbox.jdbc.InboxTable.ClaimSink;
import dev.twinbox.inbox.jdbc.ParkedTable;
import dev.twinbox.inbox.jdbc.ReplayJob;
import dev.twinbox.inbox.jdbc.ReplayedTable;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How an attempt claims its events, and what it writes about them afterwards. All of it is in the attempt's
 * transaction.
 */
interface Claims {

    /**
     * Claims what is to be handled. A delivery may stay without an answer. That means {@link ClaimResult#DONE} if its
     * handler claims, else {@link ClaimResult#TO_HANDLE}.
     *
     * @param deliveries not empty; of an event that is there twice, only the first copy gets an answer
     * @return where they are claimed
     */
    ClaimSession take(Connection connection, List<Delivery> deliveries, ClaimSink sink) throws SQLException;

    /** Deletes the claims of deliveries that were not handled. */
    void unclaim(Connection connection, List<Delivery> claimed) throws SQLException;

    /** Called when all handlers have returned. */
    void settle(Connection connection) throws SQLException;

    /** Whether {@link #settle} has anything to do. */
    boolean hasToSettle();

    /** Claims of a batch. */
    interface OfBatch extends Claims {

        /** The same claims, for an event whose start is recorded in that row; null: it is not recorded. */
        OfBatch withStart(@Nullable RecordedStart recorded);
    }

    /** Where it is written that an event has had its effect. Each method runs in its caller's transaction. */
    interface Effects {

        /** Whether it has. If a transaction that may have committed has not ended yet, waits for its end. */
        boolean hasHappened(Connection connection, Delivery delivery) throws SQLException;

        /** The event is parked: its effect is still to come. */
        default void isParked(Connection connection, Delivery delivery) throws SQLException {}

        static Effects inInbox(InboxTable inbox, String group) {
            return (connection, delivery) -> inbox.isHandled(connection, group, delivery);
        }
    }

    /**
     * Claims of events from Kafka.
     *
     * @param held which handlers are not called
     * @param start the row that records the handler's start; null if there is none
     */
    record FromKafka(
            InboxTable inbox,
            ParkedTable parked,
            String group,
            HeldHandlers held,
            @Nullable Long start) implements OfBatch {

        @Override
        public FromKafka withStart(@Nullable RecordedStart recorded) {
            return recorded == null ? this : new FromKafka(inbox, parked, group, held, recorded.number());
        }

        @Override
        public ClaimSession take(Connection connection, List<Delivery> deliveries, ClaimSink sink) throws SQLException {
            Set<String> names = held.names();
            if (names.isEmpty()) {
                return inbox.claim(connection, group, deliveries, sink);
            }
            List<Delivery> ofHeld = deliveries.stream()
                    .filter(delivery -> names.contains(delivery.handler().name()))
                    .filter(delivery -> !delivery.handler().isAtMostOnce()) // nothing is parked for it
                    .toList();
            return ofHeld.isEmpty()
                    ? inbox.claim(connection, group, deliveries, sink)
                    : takeAllBut(connection, ofHeld, deliveries, sink);
        }

        /** What would be handled by a handler that is not called is parked instead, in its place. */
        private ClaimSession takeAllBut(
                Connection connection, List<Delivery> ofHeld, List<Delivery> deliveries, ClaimSink sink)
                throws SQLException {
            Set<Delivery> toPark = new LinkedHashSet<>(ofHeld);
            Set<Delivery> claimed = new LinkedHashSet<>();
            Set<String> handlers =
                    ofHeld.stream().map(delivery -> delivery.handler().name()).collect(Collectors.toSet());
            for (String handler : handlers) {
                held.checkRoom(connection, group, handler);
            }
            ClaimSession session = inbox.claim(connection, group, deliveries, (delivery, result) -> {
                if (result == ClaimResult.TO_HANDLE && toPark.contains(delivery)) {
                    claimed.add(delivery);
                } else {
                    toPark.remove(delivery);
                    sink.accept(delivery, result);
                }
            });
            toPark.removeIf(delivery -> delivery.handler().claims() && !claimed.contains(delivery));
            for (Delivery delivery : toPark) {
                sink.accept(delivery, ClaimResult.TO_FOLLOW);
            }
            List<Delivery> toUnclaim =
                    claimed.stream().filter(each -> each.handler().claims()).toList();
            if (!toUnclaim.isEmpty()) {
                inbox.unclaim(connection, group, toUnclaim);
            }
            return session;
        }

        @Override
        public void unclaim(Connection connection, List<Delivery> claimed) throws SQLException {
            inbox.unclaim(connection, group, claimed);
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

    /** The claim of a parked event that is due. */
    record FromParking(InboxTable inbox, ParkedTable parked, DueEvent due) implements Claims {

        @Override
        public ClaimSession take(Connection connection, List<Delivery> deliveries, ClaimSink sink) throws SQLException {
            ClaimSession session = parked.lock(connection, due);
            if (session == null) {
                throw new GoneException(due);
            }
            if (due.handler() == null) {
                return inbox.claim(connection, due.group(), deliveries, sink);
            }
            for (Delivery delivery : deliveries) {
                Handler handler = delivery.handler();
                boolean isClaimed = !handler.claims() || inbox.claimParked(connection, due.group(), delivery);
                sink.accept(delivery, isClaimed ? ClaimResult.TO_HANDLE : ClaimResult.DONE);
            }
            return session;
        }

        @Override
        public void unclaim(Connection connection, List<Delivery> claimed) throws SQLException {
            inbox.unclaim(connection, due.group(), claimed);
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

    /**
     * Claims of events that a job handles again. The handler is called also while it is paused. A job that is canceled, or
     * that another instance has, claims nothing.
     *
     * @param answers the last answer for each event, for whoever counts them
     * @param start the row that records the handler's start; null if there is none
     */
    record OfReplay(
            InboxTable inbox,
            ReplayedTable replayed,
            ParkedTable parked,
            ReplayJob job,
            UUID owner,
            Map<ReceivedEvent, ClaimResult> answers,
            @Nullable Long start)
            implements OfBatch, Effects {

        @Override
        public OfReplay withStart(@Nullable RecordedStart recorded) {
            return recorded == null
                    ? this
                    : new OfReplay(inbox, replayed, parked, job, owner, answers, recorded.number());
        }

        @Override
        public ClaimSession take(Connection connection, List<Delivery> deliveries, ClaimSink sink) throws SQLException {
            ClaimSession session = replayed.claim(connection, job, owner, deliveries, (delivery, result) -> {
                answers.put(delivery.event(), result);
                sink.accept(delivery, result);
            });
            if (session == null) {
                throw new Outcome.HeldException("job " + job.number() + " is over, or another instance has it");
            }
            return session;
        }

        @Override
        public void unclaim(Connection connection, List<Delivery> claimed) throws SQLException {
            if (job.isAgain()) {
                replayed.unclaim(connection, job, claimed);
            } else {
                inbox.unclaim(connection, job.group(), claimed);
            }
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

        /** If not, the caller parks the event, and the job leaves it alone from now on. */
        @Override
        public boolean hasHappened(Connection connection, Delivery delivery) throws SQLException {
            return job.isAgain()
                    ? !replayed.leave(connection, job, delivery)
                    : inbox.isHandled(connection, job.group(), delivery);
        }

        /** The next owner of the job may have handled it in the meantime. Then its retry finds it in the inbox. */
        @Override
        public void isParked(Connection connection, Delivery delivery) throws SQLException {
            answers.put(delivery.event(), ClaimResult.TO_FOLLOW);
            if (job.isAgain()) {
                replayed.leave(connection, job, delivery);
            }
        }
    }

    /** Another instance or an operator has settled, discarded or retried the parked event in the meantime. */
    final class GoneException extends RuntimeException {
        private static final long serialVersionUID = 1;

        GoneException(DueEvent due) {
            super("parked event " + due.number()
                    + " was changed by another instance or an operator; this attempt is dropped");
        }
    }
}
