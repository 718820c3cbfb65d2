package dev.twinbox.sample.orders;

import jakarta.ejb.ApplicationException;

/** An order for somebody we do not know. */
@ApplicationException(rollback = true)
public class UnknownCustomerException extends RuntimeException {

    UnknownCustomerException(long customerId) {
        super("There is no customer " + customerId);
    }
}
