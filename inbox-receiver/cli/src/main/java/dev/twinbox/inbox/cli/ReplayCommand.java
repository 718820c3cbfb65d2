package dev.twinbox.inbox.cli;

import dev.twinbox.SchemaException;
import dev.twinbox.console.config.ProcessConfig;
import dev.twinbox.inbox.console.ConsoleConfig;
import dev.twinbox.inbox.console.ReplayChange;
import dev.twinbox.inbox.console.ReplayJson;
import dev.twinbox.inbox.console.ReplayPlan;
import dev.twinbox.inbox.console.ReplaySelection;
import dev.twinbox.inbox.jdbc.ReplayJob;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code twinbox-inbox-cli.jar replay}: has a handler called again for events of a topic. */
@Command(
        name = "replay",
        mixinStandardHelpOptions = true,
        description = {
            "Makes one running instance call a handler again for events that are still on the topic.",
            "Only writes a row. The consumer group does not move. Without options it lists the jobs."
        })
final class ReplayCommand extends OnTables {

    @Option(names = "--topic", paramLabel = "TOPIC", description = "The topic that is read.")
    private @Nullable String topic;

    @Option(names = "--handler", paramLabel = "NAME", description = "The handler that is called. No other one is.")
    private @Nullable String handler;

    @Option(
            names = "--from",
            paramLabel = "FROM",
            description = "Time or offset of the first record, or oldest. A time is that of the record, for example "
                    + "2026-11-29T12:00:00Z. An offset needs --partition if there are several.")
    private @Nullable String from;

    @Option(
            names = "--to",
            paramLabel = "TO",
            description = "Time or offset of the end, itself not included. Without it: all that is there now.")
    private @Nullable String to;

    @Option(names = "--partition", paramLabel = "NUMBER", description = "Only this partition.")
    private @Nullable Integer partition;

    @Option(names = "--key", paramLabel = "KEY", description = "Only records with this key.")
    private @Nullable String key;

    @Option(names = "--group", description = "Needed if several consumer groups have the handler.")
    private @Nullable String group;

    @Option(names = "--again", description = "Also events that were handled: each has one more effect.")
    private boolean isAgain;

    @Option(names = "--dry-run", description = "Shows what would be read, and requests nothing.")
    private boolean isDryRun;

    @Option(names = "--cancel", paramLabel = "JOB", description = "Cancels the job with this number.")
    private @Nullable Long cancel;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description =
                    "Properties in UTF-8 with twinbox.inbox.kafka.*, as for the console. Environment variables and "
                            + "system properties win over it.")
    private @Nullable Path file;

    /** Null: the jobs are listed, or one is canceled. */
    private @Nullable ReplaySelection selection;

    @Override
    void check() {
        boolean isRequest = topic != null
                || handler != null
                || from != null
                || to != null
                || partition != null
                || key != null
                || group != null
                || isAgain
                || isDryRun;
        if (isRequest && cancel != null) {
            throw new IllegalArgumentException("--cancel stands alone: leave out the other options");
        }
        if (isRequest) {
            selection = ReplaySelection.of(
                    topic,
                    handler,
                    group,
                    partition,
                    from,
                    to,
                    key,
                    isAgain ? ReplaySelection.Known.AGAIN : ReplaySelection.Known.SKIPPED);
        }
    }

    @Override
    int run(Connection connection, Tables at, PrintWriter out) throws SQLException {
        ReplaySelection which = selection;
        try {
            if (cancel != null) {
                cancel(connection, at, cancel, out);
            } else if (which == null) {
                list(ReplayChange.jobs(connection, at.inbox()), out);
            } else {
                request(connection, at, which, out);
            }
            return CommandLine.ExitCode.OK;
        } catch (SchemaException e) {
            return tooOld(e);
        } catch (KafkaException e) {
            return failed(String.valueOf(e.getMessage()));
        }
    }

    private void request(Connection connection, Tables at, ReplaySelection which, PrintWriter out) throws SQLException {
        ConsoleConfig config = ConsoleConfig.read(file, System.getenv(), ProcessConfig.systemProperties());
        ReplayPlan plan = ReplayPlan.of(connection, at.inbox(), config.kafka(), which);
        Long job = isDryRun ? null : (Long) new ReplayChange(connection, at.inbox(), actions(connection)).request(plan);
        if (isJson()) {
            out.println(ReplayJson.planned(plan, job, List.of()));
            return;
        }
        plan.request()
                .partitions()
                .forEach(each -> out.println(
                        "partition " + each.number() + ": offsets " + each.from() + " to " + (each.to() - 1)));
        out.println("at most " + plan.records() + " records of all types and keys");
        plan.notes().forEach(out::println);
        out.println(
                job == null
                        ? "nothing is requested: dry run"
                        : "requested as job " + job
                                + ": a running instance begins within seconds; \"replay\" shows how far it is");
    }

    private void cancel(Connection connection, Tables at, long job, PrintWriter out) throws SQLException {
        boolean wasActive = new ReplayChange(connection, at.inbox(), actions(connection)).cancel(job);
        if (isJson()) {
            out.println(ReplayJson.canceled(job, wasActive, List.of()));
        } else {
            out.println(
                    wasActive
                            ? "job " + job + " is canceled; what it has done stays done"
                            : "job " + job + " is over, or there is none of this number");
        }
    }

    private void list(List<ReplayJob> jobs, PrintWriter out) {
        if (isJson()) {
            out.println(ReplayJson.jobs(jobs));
        } else if (jobs.isEmpty()) {
            out.println("0 jobs");
        } else {
            jobs.forEach(job -> out.println(line(job)));
        }
    }

    private static String line(ReplayJob job) {
        return "job " + job.number() + " " + job.state().text() + ", handler \"" + job.handler() + "\" of group \""
                + job.group() + "\", topic \"" + job.topic() + "\" from " + job.from() + " to " + job.to()
                + (job.key() == null ? "" : ", key \"" + job.key() + '"')
                + (job.isAgain() ? ", again" : "")
                + ": " + job.counts() + ", " + job.left() + " of " + job.offsets() + " offsets left"
                + (job.error() == null ? "" : "; " + job.error());
    }
}
