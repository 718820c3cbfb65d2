package dev.twinbox;

import jakarta.ejb.ApplicationException;

/**
 * Thrown by an {@link InboxHandler} that finds what it was to do done already, by something that the inbox does not know of: a
 * unique business key, for example.
 *
 * <pre>{@code
 * @InboxHandler
 * public void book(PaymentReceived event) {
 *   if (!payments.insertIfAbsent(event.paymentNumber())) {
 *     throw new AlreadyDoneException("payment " + event.paymentNumber() + " is booked");
 *   }
 *   …
 * }
 * }</pre>
 *
 * <p><b>Commit and rollback.</b> All that the handler has changed and published is rolled back. The event counts as handled: its
 * inbox row is kept, in a transaction that follows, and the event is neither tried again nor parked.
 *
 * <p><b>Cost.</b> A batch with such an event is handled again, event by event. Where most events are done already, return
 * normally without having changed anything.
 */
@ApplicationException(rollback = true) // a container that does not know it would log it, and discard the bean
public class AlreadyDoneException extends TwinboxException {

    private static final long serialVersionUID = 1;

    public AlreadyDoneException(String message) {
        super(message);
    }

    public AlreadyDoneException(String message, Throwable cause) {
        super(message, cause);
    }
}
