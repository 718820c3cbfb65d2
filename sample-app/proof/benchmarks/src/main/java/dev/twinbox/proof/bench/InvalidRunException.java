package dev.twinbox.proof.bench;

import org.jspecify.annotations.Nullable;

/**
 * A run whose figures must not be reported: events were lost, repeated, out of order or late. The message has the
 * details.
 */
final class InvalidRunException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    InvalidRunException(String message) {
        super(message);
    }

    InvalidRunException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
