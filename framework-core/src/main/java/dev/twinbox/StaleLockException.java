package dev.twinbox;

import jakarta.ejb.ApplicationException;

/**
 * Thrown by {@link KeyLock#fence} when the lock is no longer the caller's. Its key was granted to another holder, its row
 * was deleted, or it was closed. The transaction is marked for rollback.
 */
@ApplicationException(rollback = true) // otherwise the container would log it and discard the bean
public class StaleLockException extends TwinboxException {

    private static final long serialVersionUID = 1;

    public StaleLockException(String message) {
        super(message);
    }
}
