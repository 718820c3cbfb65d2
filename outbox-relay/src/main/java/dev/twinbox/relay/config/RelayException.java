package dev.twinbox.relay.config;

import org.jspecify.annotations.Nullable;

/**
 * The relay cannot go on, and only an operator can change that. The message is all an operator sees: it names the place, the
 * value and the remedy. Faults that pass by themselves are never thrown as this; they are waited out.
 */
public final class RelayException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final ExitCode exitCode;

    public RelayException(ExitCode exitCode, String message) {
        this(exitCode, message, null);
    }

    public RelayException(ExitCode exitCode, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    public ExitCode exitCode() {
        return exitCode;
    }
}
