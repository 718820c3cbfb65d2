package dev.twinbox.relay;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.SentEvents;
import dev.twinbox.relay.operator.OperatorActions;
import dev.twinbox.relay.resend.ResendJob;
import dev.twinbox.relay.resend.ResendJson;
import dev.twinbox.relay.resend.ResendPreview;
import dev.twinbox.relay.resend.ResendRules;
import dev.twinbox.relay.resend.ResendTable;
import dev.twinbox.relay.resend.ResendText;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Requests that the owner of the lease sends events again, lists such jobs, and cancels them. */
@Command(
        name = "resend",
        description = "Makes the running relay send events again that are still in the table. Only writes a row; the "
                + "relay that owns the lease sends. Without --from it lists the jobs.")
final class ResendCommand implements Callable<Integer> {
    private static final int MOST_JOBS = 20;

    @Mixin
    private ConfigurationOption configuration;

    @Option(
            names = "--from",
            paramLabel = "FROM",
            description = "Number or time of the first event, or oldest. A time is that of the event itself, for "
                    + "example 2026-11-29T12:00:00Z.")
    private @Nullable String from;

    @Option(
            names = "--to",
            paramLabel = "TO",
            description = "Number or time of the end, itself not included. Without it: all that is sent until now.")
    private @Nullable String to;

    @Option(names = "--topic", paramLabel = "TOPIC", description = "Only events for this topic.")
    private @Nullable String topic;

    @Option(names = "--key", paramLabel = "KEY", description = "Only events with this key.")
    private @Nullable String key;

    @Option(names = "--dry-run", description = "Counts the events, and requests nothing.")
    private boolean isDryRun;

    @Option(names = "--cancel", paramLabel = "JOB", description = "Cancels the job with this number.")
    private @Nullable Long cancel;

    @Option(names = "--json", description = "Prints one JSON document.")
    private boolean isJson;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        SentEvents.Range range = range();
        ConfigurationOption.Work work = (connection, config) -> {
            PrintWriter out = spec.commandLine().getOut();
            if (cancel != null) {
                cancel(connection, config, cancel, out);
            } else if (range == null) {
                list(connection, config, out);
            } else {
                request(connection, config, range, out);
            }
            out.flush();
            return ExitCode.OK;
        };
        return isJson ? configuration.onDatabaseForJson(work) : configuration.onDatabase(work);
    }

    /** Null: nothing is to be sent. */
    private SentEvents.@Nullable Range range() {
        boolean isRange = from != null || to != null || topic != null || key != null || isDryRun;
        if (isRange && cancel != null) {
            throw new ParameterException(spec.commandLine(), "--cancel stands alone: leave out the other options");
        }
        try {
            return isRange ? ResendRules.range(from, to, topic, key) : null;
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private void request(Connection connection, RelayConfig config, SentEvents.Range range, PrintWriter out)
            throws SQLException {
        ResendPreview preview = ResendPreview.of(config, connection, range);
        Long job = null;
        if (!isDryRun) {
            preview.refuseUnknownTopics(range);
            job = OperatorActions.onCommandLine(config, connection).resend(range, preview.compacted());
        }
        if (isJson) {
            var json = ResendJson.preview(preview).add("dryRun", isDryRun);
            out.println((job == null ? json : json.add("job", job)).build());
            return;
        }
        preview.topics()
                .values()
                .forEach(each -> out.println(each.topic() + ": " + each.events() + " events, " + each.bytes()
                        + " bytes, numbers " + each.first() + " to " + each.last()
                        + (preview.compacted().contains(each.topic())
                                ? "; compacted, so new events for it wait until the job is over"
                                : "")));
        out.println(preview.events() + " events" + (preview.isCut() ? " or more (the time for counting was up)" : ""));
        if (preview.emptiedUpTo() > 0) {
            out.println("some events up to number " + preview.emptiedUpTo()
                    + " are not in the table any more, and are not sent");
        }
        SentEvents.First first = preview.first();
        if (first != null) {
            out.println("oldest event in the table: number " + first.seq() + ", " + first.time() + ", "
                    + String.format(Locale.ROOT, "%.1f", first.age() / 3_600) + " hours ago");
        }
        out.println(
                job == null
                        ? "nothing is requested: dry run"
                        : "requested as job " + job
                                + ": the running relay sends them; \"twinbox-relay resend\" shows how far");
    }

    private void cancel(Connection connection, RelayConfig config, long number, PrintWriter out) throws SQLException {
        boolean wasActive = OperatorActions.onCommandLine(config, connection).cancelResend(number);
        if (isJson) {
            out.println("{\"wasActive\":" + wasActive + "}");
        } else if (!wasActive) {
            out.println("job " + number + " is over, or there is none of this number");
        } else {
            out.println(
                    "job " + number + " is canceled. On a compacted topic, the last event of a key may be an old one "
                            + "now: request the range again");
        }
    }

    private void list(Connection connection, RelayConfig config, PrintWriter out) throws SQLException {
        List<ResendJob> jobs = new ResendTable(connection, config.tables(), config.name()).latest(MOST_JOBS);
        if (isJson) {
            out.println(ResendJson.jobs(jobs).build());
        } else if (jobs.isEmpty()) {
            out.println("0 jobs");
        } else {
            jobs.forEach(job -> out.println(ResendText.of(job)));
        }
    }
}
