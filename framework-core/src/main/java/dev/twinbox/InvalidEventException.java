package dev.twinbox;

import org.jspecify.annotations.Nullable;

/** An event cannot be sent as it is. The message names the wrong part and what is allowed. */
public class InvalidEventException extends TwinboxException {

    private static final long serialVersionUID = 1;

    public InvalidEventException(String message) {
        super(message);
    }

    public InvalidEventException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
