package dev.twinbox.inbox;

import dev.twinbox.inbox.ReceivedEvent.Pace;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code EXACTLY_ONCE_EFFECT} and {@code AT_LEAST_ONCE}: a batch in one transaction; if that fails, one transaction for each
 * event and handler, which finds the culprit without repeating its neighbours.
 */
final class TransactionalProcessor implements Processor {

    private final Workshop workshop;

    TransactionalProcessor(Workshop workshop) {
        this.workshop = workshop;
    }

    @Override
    public Outcome process(Batch batch) {
        batch.begin();
        ReceivedEvent first = batch.events().get(0);
        if (!first.isReadable()) {
            workshop.status().failed();
            return Outcome.waitForEvent(0, first.problem(), null);
        }
        List<ReceivedEvent> events = readableOfOnePace(batch.events(), first.pace());
        return first.pace() == Pace.TOGETHER ? together(batch, events) : alone(batch, events);
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
        Attempt attempt = new Attempt(workshop, events, ReceivedEvent::handlers, handled -> batch.isOver()).execute();
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
                Attempt attempt =
                        new Attempt(workshop, List.of(event), one -> List.of(handler), handled -> true).execute();
                if (attempt.isCommitted()) {
                    event.handlerDone();
                } else if (attempt.isDatabaseFault()) {
                    return Outcome.waitForDatabase(settled, attempt.cause());
                } else {
                    workshop.status().failed();
                    return Outcome.waitForEvent(settled, attempt.cause(), handler);
                }
            }
            settled++;
            if (batch.isOver()) {
                break;
            }
        }
        return Outcome.goOn(settled);
    }
}
