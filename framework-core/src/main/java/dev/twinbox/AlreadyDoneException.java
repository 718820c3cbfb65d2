package dev.twinbox;

import jakarta.ejb.ApplicationException;

/**
 * Thrown by an {@link InboxHandler} that finds its effect already done. The inbox did not know it; a unique business
 * key may have shown it, for example.
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
 * <p><b>Commit and rollback.</b> All that the handler has changed and published is rolled back. The event counts as
 * handled: its inbox row is written in a following transaction. The event is neither tried again nor parked.
 *
 * <p><b>Cost.</b> A batch with such an event is handled again, event by event. Where most events are already done,
 * change nothing and return normally.
 */
@ApplicationException(rollback = true) // otherwise the container would log it and discard the bean
public class AlreadyDoneException extends TwinboxException {

    private static final long serialVersionUID = 1;

    public AlreadyDoneException(String message) {
        super(message);
    }

    public AlreadyDoneException(String message, Throwable cause) {
        super(message, cause);
    }
}
