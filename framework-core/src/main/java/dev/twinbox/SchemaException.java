package dev.twinbox;

import org.jspecify.annotations.Nullable;

/** The database lacks tables, columns or privileges, or is of the wrong kind. The message names the remedy. */
public class SchemaException extends TwinboxException {

    private static final long serialVersionUID = 1;

    public SchemaException(String message) {
        super(message);
    }

    public SchemaException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
