package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.Delivery;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.RecordedStart;
import dev.twinbox.inbox.jdbc.ClaimResult;
import dev.twinbox.inbox.jdbc.ClaimSession;
import dev.twinbox.inbox.jdbc.InboxTable;
import dev.twinbox.inbox.jdbc.InboxTable.ClaimSink;
import dev.twinbox.inbox.jdbc.ParkedTable;
import dev.twinbox.inbox.jdbc.ReplayJob;
import dev.twinbox.inbox.jdbc.ReplayedTable;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Claims of events that a job handles again. The handler is called also while it is paused. A job that is canceled, or
 * that another instance has, claims nothing.
 *
 * @param answers the last answer for each event, for whoever counts them
 * @param start the row that records the handler's start; null if there is none
 */
record ReplayClaims(
        InboxTable inbox,
        ReplayedTable replayed,
        ParkedTable parked,
        ReplayJob job,
        UUID owner,
        Map<ReceivedEvent, ClaimResult> answers,
        @Nullable Long start) implements Claims.OfBatch, Claims.Effects {

    @Override
    public ReplayClaims withStart(@Nullable RecordedStart recorded) {
        return recorded == null
                ? this
                : new ReplayClaims(inbox, replayed, parked, job, owner, answers, recorded.number());
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

    @Override
    public boolean hasHappened(Connection connection, Delivery delivery) throws SQLException {
        return job.isAgain()
                ? replayed.isHandled(connection, job, delivery)
                : inbox.isHandled(connection, job.group(), delivery);
    }

    /** The job leaves it alone from now on. Its retry claims it in the inbox. */
    @Override
    public void isParked(Connection connection, Delivery delivery) throws SQLException {
        answers.put(delivery.event(), ClaimResult.TO_FOLLOW);
        if (job.isAgain()) {
            replayed.isHandled(connection, job, delivery);
            replayed.forget(connection, job, delivery);
        }
    }
}
