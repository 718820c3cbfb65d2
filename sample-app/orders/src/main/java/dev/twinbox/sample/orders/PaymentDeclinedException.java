package dev.twinbox.sample.orders;

import jakarta.ejb.ApplicationException;

/** The card was declined. The order is rolled back. */
@ApplicationException(rollback = true)
public class PaymentDeclinedException extends RuntimeException {

    private final long orderId;

    PaymentDeclinedException(long orderId) {
        super("Payment declined, order " + orderId + " is rolled back");
        this.orderId = orderId;
    }

    long orderId() {
        return orderId;
    }
}
