package dev.twinbox.inbox.console;

import dev.twinbox.SchemaException;
import dev.twinbox.console.actions.SelectionText;
import dev.twinbox.inbox.jdbc.ReplayJob;
import dev.twinbox.inbox.jdbc.ReplayTable;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * Requests and cancels jobs that handle events again. It only changes rows: an instance of the application acts. For one
 * change on one connection in auto-commit mode.
 */
public final class ReplayChange {
    private static final int MOST_JOBS = 20;

    private final Connection connection;
    private final OperatorActions actions;
    private final ReplayTable table;

    /** @throws SchemaException if the tables are too old */
    public ReplayChange(Connection connection, SqlIdentifier inbox, OperatorActions actions) throws SQLException {
        this.connection = connection;
        this.actions = actions;
        this.table = ReplayTable.of(inbox);
        if (!table.exists(connection)) {
            throw new SchemaException("events cannot be replayed, there is no table " + ReplayTable.name(inbox)
                    + ": run \"twinbox-inbox-cli.jar migrate\" as the tables' owner");
        }
    }

    /** The newest jobs, the newest first. None if the tables are too old. */
    public static List<ReplayJob> jobs(Connection connection, SqlIdentifier inbox) throws SQLException {
        return ReplayTable.of(inbox).latest(connection, MOST_JOBS);
    }

    /**
     * Requests the job. Returns its number.
     *
     * @throws IllegalArgumentException if a job of this handler and topic is not over
     */
    public long request(ReplayPlan plan) throws SQLException {
        ReplayTable.Request job = plan.request();
        Optional<Long> number =
                actions.inTransaction("replay", text(job), made -> made.isEmpty() ? 0 : plan.records(), () -> {
                    table.removeOld(connection);
                    return table.request(connection, job);
                });
        return number.orElseThrow(() -> new IllegalArgumentException("a job of handler \"" + job.handler()
                + "\" and topic \"" + job.topic() + "\" is not over: wait for its end, or cancel it"));
    }

    /** Cancels a job. Returns false if it is over, or there is none. */
    public boolean cancel(long job) throws SQLException {
        return actions.inTransaction(
                "cancel-replay",
                new SelectionText().with("job", job),
                done -> done ? 1 : 0,
                () -> table.cancel(connection, job));
    }

    private static SelectionText text(ReplayTable.Request job) {
        return new SelectionText()
                .with("topic", job.topic())
                .with("from", job.from())
                .with("to", job.to())
                .with("key", job.key())
                .with("handler", job.handler())
                .with("group", job.group())
                .with("again", job.isAgain() ? "yes" : null);
    }
}
