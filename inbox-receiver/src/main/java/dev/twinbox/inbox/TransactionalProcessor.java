package dev.twinbox.inbox;

import dev.twinbox.inbox.Batch.Care;
import dev.twinbox.inbox.ParkedTable.Begun;
import dev.twinbox.inbox.ReceivedEvent.Pace;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code EXACTLY_ONCE_EFFECT} and {@code AT_LEAST_ONCE}: a batch in one transaction; if that fails, one transaction for each
 * event and handler, which finds the culprit without repeating its neighbours. The culprit is tried a few times and parked.
 */
final class TransactionalProcessor implements Processor {

    /** So often an event may be begun after a crash; a process that is killed by somebody else is not the event's fault. */
    private static final int MOST_BEGINNINGS = 3;

    private final Workshop workshop;

    TransactionalProcessor(Workshop workshop) {
        this.workshop = workshop;
    }

    @Override
    public Outcome process(Batch batch) {
        batch.begin();
        ReceivedEvent first = batch.events().get(0);
        try {
            if (!first.isReadable()) {
                workshop.status().failed();
                workshop.parking().park(first, null, 0, first.problem());
                return Outcome.goOn(1);
            }
            if (batch.care() == Care.AFTER_A_CRASH) {
                batch.events().forEach(ReceivedEvent::handleAlone);
            }
            List<ReceivedEvent> events = readableOfOnePace(batch.events(), first.pace());
            return first.pace() == Pace.TOGETHER ? together(batch, events) : alone(batch, events);
        } catch (SQLException e) {
            return Outcome.waitForDatabase(0, e);
        }
    }

    private static List<ReceivedEvent> readableOfOnePace(List<ReceivedEvent> events, Pace pace) {
        List<ReceivedEvent> prefix = new ArrayList<>(events.size());
        for (ReceivedEvent event : events) {
            if (!event.isReadable() || event.pace() != pace) {
                break;
            }
            prefix.add(event);
        }
        return prefix;
    }

    private Outcome together(Batch batch, List<ReceivedEvent> events) {
        if (events.stream().allMatch(event -> event.handlers().isEmpty())) {
            return Outcome.goOn(events.size());
        }
        Attempt attempt = new Attempt(
                        workshop, events, ReceivedEvent::handlers, workshop.claims(), handled -> batch.isOver())
                .execute();
        if (attempt.isCommitted()) {
            return Outcome.goOn(attempt.handled());
        }
        if (attempt.isDatabaseFault()) {
            return Outcome.waitForDatabase(0, attempt.cause());
        }
        events.forEach(ReceivedEvent::handleAlone);
        return alone(batch, events);
    }

    private Outcome alone(Batch batch, List<ReceivedEvent> events) {
        int settled = 0;
        for (ReceivedEvent event : events) {
            while (event.nextHandler() < event.handlers().size()) {
                Handler handler = event.handlers().get(event.nextHandler());
                Outcome obstacle;
                try {
                    obstacle = batch.care() == Care.AFTER_A_CRASH
                            ? onTheRecord(event, handler, settled)
                            : attempt(event, handler, null, settled);
                } catch (SQLException e) {
                    return Outcome.waitForDatabase(settled, e);
                }
                if (obstacle != null) {
                    return obstacle;
                }
                event.handlerDone();
            }
            settled++;
            if (batch.isOver()) {
                break;
            }
        }
        return Outcome.goOn(settled);
    }

    /** One try after the beginning was committed, so that the next process knows if this one dies of it. */
    private @Nullable Outcome onTheRecord(ReceivedEvent event, Handler handler, int settled) throws SQLException {
        if (event.begun() == null) {
            Begun begun = workshop.parking().begin(event, handler);
            if (begun != null && begun.times() > MOST_BEGINNINGS) {
                workshop.parking().giveUp(event, handler, begun);
                return null;
            }
            event.begin(begun);
        }
        return attempt(event, handler, event.begun(), settled);
    }

    /** Returns why the rest has to wait; null: it need not, the event is handled or parked. */
    private @Nullable Outcome attempt(ReceivedEvent event, Handler handler, @Nullable Begun begun, int settled)
            throws SQLException {
        Claims claims = new Claims.FromKafka(
                workshop.table(), workshop.parking().table(), workshop.group(), begun == null ? null : begun.number());
        Attempt attempt =
                new Attempt(workshop, List.of(event), one -> List.of(handler), claims, handled -> true).execute();
        if (attempt.isCommitted()) {
            return null;
        }
        if (attempt.isDatabaseFault()) {
            return Outcome.waitForDatabase(settled, attempt.cause());
        }
        if (handler.hasEffect() && Faults.isAlreadyDone(attempt.cause())) {
            @Nullable Outcome obstacle = attempt(event, handler.withoutEffect(), begun, settled);
            workshop.status().alreadyDone(obstacle == null ? 1 : 0);
            return obstacle;
        }
        workshop.status().failed();
        int failures = event.failed();
        if (attempt.cause() instanceof UnreadableRecordException
                || failures >= workshop.parking().quickTries()) {
            if (begun == null) {
                workshop.parking().park(event, handler, failures, attempt.cause());
            } else {
                workshop.parking().parkBegun(event, handler, begun, failures, attempt.cause());
            }
            return null;
        }
        return Outcome.waitForEvent(settled, attempt.cause(), handler);
    }
}
