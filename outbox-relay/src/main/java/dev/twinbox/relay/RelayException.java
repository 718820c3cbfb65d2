package dev.twinbox.relay;

import org.jspecify.annotations.Nullable;

/**
 * The relay cannot go on, and only a person can change that. The message is all an operator sees: it names the place, the
 * value and the remedy. Faults that pass by themselves are never thrown as this; they are waited out.
 */
final class RelayException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final ExitCode exitCode;

    RelayException(ExitCode exitCode, String message) {
        this(exitCode, message, null);
    }

    RelayException(ExitCode exitCode, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    ExitCode exitCode() {
        return exitCode;
    }
}
