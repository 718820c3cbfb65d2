package dev.twinbox.inbox.event;

import org.jspecify.annotations.Nullable;

/**
 * Turns an exception into text that fits into a column and a log line. A failure in the exception's own code does no
 * harm.
 */
public final class ErrorText {

    /** Longest text, in characters. */
    static final int LONGEST = 2000;

    private static final int MOST_CAUSES = 5;
    private static final char REPLACEMENT = '\uFFFD';

    private ErrorText() {}

    /**
     * Class and message of the exception and its causes. Without U+0000 and lone surrogates, because PostgreSQL cannot
     * store them.
     */
    public static String of(Throwable thrown) {
        StringBuilder text = new StringBuilder();
        Throwable next = thrown;
        for (int depth = 0; next != null && depth < MOST_CAUSES && text.length() <= LONGEST; depth++) {
            text.append(depth == 0 ? "" : " <- ").append(next.getClass().getName());
            try {
                text.append(message(next));
                next = next.getCause();
            } catch (RuntimeException | Error e) {
                text.append(": its message cannot be read, ")
                        .append(e.getClass().getName());
                next = null;
            }
        }
        return clean(text.length() <= LONGEST ? text : text.replace(LONGEST - 1, text.length(), "…"));
    }

    /** A copy that a logger can print without the exception's own code, which may fail too. */
    public static Throwable forLog(Throwable thrown) {
        return new Failure(thrown);
    }

    private static final class Failure extends Exception {
        private static final long serialVersionUID = 1;

        Failure(Throwable thrown) {
            super(textForLog(thrown), null, false, true);
            try {
                setStackTrace(thrown.getStackTrace());
            } catch (RuntimeException | Error e) {
                setStackTrace(new StackTraceElement[0]);
            }
        }
    }

    /**
     * A parser quotes its input, and not everybody who reads the log may see that. So the quote stays with the parked
     * event.
     */
    private static String textForLog(Throwable thrown) {
        Throwable cause = thrown instanceof UnreadableRecordException ? thrown.getCause() : null;
        return cause == null
                ? of(thrown)
                : clean(new StringBuilder(thrown.getClass().getName())
                        .append(message(thrown))
                        .append(" <- ")
                        .append(cause.getClass().getName()));
    }

    private static String message(Throwable thrown) {
        @Nullable String message = thrown.getMessage();
        return message == null ? "" : ": " + (message.length() <= LONGEST ? message : message.substring(0, LONGEST));
    }

    private static String clean(StringBuilder text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean isPair = Character.isHighSurrogate(c)
                    && i + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(i + 1));
            if (isPair) {
                i++;
            } else if (c == '\0' || Character.isSurrogate(c)) {
                text.setCharAt(i, REPLACEMENT);
            }
        }
        return text.toString();
    }
}
