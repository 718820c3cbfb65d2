package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.RetryRule;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.inbox.jdbc.Faults;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Handles {@code AT_MOST_ONCE} events. Their offset is already committed, so each event gets exactly one attempt. */
final class AtMostOnceProcessor implements Processor {

    private static final Logger LOG = System.getLogger(AtMostOnceProcessor.class.getName());

    private final Attempts attempts;
    private final Claims claims;
    private final UnknownType unknownType;
    private final ReceiverStatus status;

    /** Handlers that the log has named. */
    private final Set<String> warned = ConcurrentHashMap.newKeySet();

    AtMostOnceProcessor(Attempts attempts, Claims claims, UnknownType unknownType, ReceiverStatus status) {
        this.attempts = attempts;
        this.claims = claims;
        this.unknownType = unknownType;
        this.status = status;
    }

    @Override
    public Outcome process(Batch batch) {
        for (ReceivedEvent event : batch.events()) {
            if (event.isOfUnknownType()) {
                skip(event);
            } else if (event.isReadable()) {
                while (event.nextHandler() < event.handlers().size()) {
                    Handler handler = event.handlers().get(event.nextHandler());
                    event.handlerDone(); // before it is called, because it gets one attempt only
                    Attempt attempt = attempts.handleAlone(event, List.of(handler), claims, batch.abandonment());
                    if (attempt.isAbandoned()) {
                        return Outcome.takenOver();
                    }
                    report(event, handler, attempt);
                }
            } else {
                drop(event, event.problem());
            }
        }
        return Outcome.goOn(batch.events().size());
    }

    /** Nothing is parked for handlers of other instances either: an event may be lost, but must not be late. */
    private void skip(ReceivedEvent event) {
        if (unknownType == UnknownType.SKIP) {
            status.skipped(event);
        } else {
            drop(event, UnknownTypes.noHandler(event));
        }
    }

    /** The event is dropped for this handler. If there are others, it is handed out again for them. */
    @Override
    public Outcome settleHung(Batch batch, HandlerTimeoutException cause) {
        drop(cause.events().get(0), cause);
        return Outcome.goOn(0);
    }

    private void report(ReceivedEvent event, Handler handler, Attempt attempt) {
        if (!attempt.isCommitted() && Faults.isAlreadyDone(attempt.cause())) {
            status.alreadyDone(1);
        } else if (!attempt.isCommitted()) {
            drop(event, attempt.cause());
            warnOfRetry(handler, attempt.cause());
        }
    }

    /** <b>Remedy.</b> Choose another delivery, or let the handler throw another exception. */
    private void warnOfRetry(Handler handler, Throwable cause) {
        if (RetryRule.of(cause, List.of()).kind() == RetryRule.Kind.AFTER_DELAY && warned.add(handler.name())) {
            LOG.log(
                    Level.WARNING,
                    "Handler {0} has thrown RetryLaterException, but is called at most once for an event: the event is "
                            + "dropped. Choose another delivery for the handler, or throw another exception. This is "
                            + "logged once",
                    handler);
        }
    }

    private void drop(ReceivedEvent event, Throwable cause) {
        status.dropped(1);
        LOG.log(Level.DEBUG, () -> "Dropped " + event, ErrorText.forLog(cause));
    }
}
