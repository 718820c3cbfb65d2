package dev.twinbox;

import org.jspecify.annotations.Nullable;

/**
 * Root of the exceptions of Twinbox. Inside a transaction it makes the container roll back, as any runtime exception
 * does.
 */
public class TwinboxException extends RuntimeException {

    private static final long serialVersionUID = 1;

    public TwinboxException(String message) {
        super(message);
    }

    public TwinboxException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
