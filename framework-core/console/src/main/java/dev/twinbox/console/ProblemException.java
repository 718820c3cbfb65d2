package dev.twinbox.console;

import org.eclipse.jetty.http.HttpStatus;

/** A request that is refused. The answer is a document of problem details (RFC 9457). */
public final class ProblemException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;

    /**
     * A refusal with this status.
     *
     * @param detail what is wrong and what to do, for the operator; without anything secret
     */
    public ProblemException(int status, String detail) {
        super(detail);
        this.status = status;
    }

    public int status() {
        return status;
    }

    WebAnswer answer() {
        WebAnswer answer = WebAnswer.of(
                status,
                "application/problem+json",
                Json.createObjectBuilder()
                        .add("type", "about:blank")
                        .add("title", HttpStatus.getMessage(status))
                        .add("status", status)
                        .add("detail", String.valueOf(getMessage()))
                        .build()
                        .toString());
        return switch (status) {
            case 401 -> answer.with("WWW-Authenticate", "Bearer");
            case 429, 503 -> answer.with("Retry-After", "1");
            default -> answer;
        };
    }
}
