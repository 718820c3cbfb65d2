package dev.twinbox.relay.resend;

import dev.twinbox.console.actions.SelectionText;
import dev.twinbox.relay.jdbc.SentEvents;
import java.util.Locale;
import java.util.TreeSet;

/** Jobs in words. */
public final class ResendText {
    private ResendText() {}

    /** The range as a selection. */
    public static String of(SentEvents.Range range) {
        Object from = range.from() == null ? range.fromTime() : range.from();
        return new SelectionText()
                .with("from", from == null ? "oldest" : from)
                .with("to", range.to() == null ? range.toTime() : range.to())
                .with("topic", range.topic())
                .with("key", range.key())
                .toString();
    }

    /** A job in one line. */
    public static String of(ResendJob job) {
        ResendJob.Sent sent = job.sent();
        return "job " + job.number() + " " + job.state().name().toLowerCase(Locale.ROOT) + ", " + of(job.range())
                + (job.after() == 0 ? "" : ", done up to number " + job.after())
                + ": " + sent.sent() + " sent"
                + (sent.parked() == 0 ? "" : ", " + sent.parked() + " left out as they are parked")
                + (sent.refused() == 0 ? "" : ", " + sent.refused() + " refused by Kafka")
                + (job.held().isEmpty() || !job.isActive()
                        ? ""
                        : ", new events set aside for " + String.join(", ", new TreeSet<>(job.held())))
                + (job.error() == null ? "" : "; " + job.error());
    }
}
