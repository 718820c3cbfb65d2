package dev.twinbox.inbox.console;

import dev.twinbox.console.actions.ActionLog;
import dev.twinbox.console.actions.ActionRecorder;
import dev.twinbox.console.actions.Actor;
import dev.twinbox.console.actions.SelectionText;
import dev.twinbox.inbox.jdbc.InboxSchema;
import dev.twinbox.inbox.jdbc.ParkedSelection;
import dev.twinbox.inbox.jdbc.SelectedRows;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.jdbc.Transactions;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * What an operator changes, by the command line or over HTTP. Each change is recorded in its transaction: without its
 * row in the action log it does not happen. For one change on one connection in auto-commit mode.
 */
public final class OperatorActions {
    private final Connection connection;
    private final SqlIdentifier inbox;
    private final ActionLog log;
    private final ActionRecorder recorder;

    private OperatorActions(Connection connection, SqlIdentifier inbox, ActionLog log, Actor actor)
            throws SQLException {
        this.connection = connection;
        this.inbox = inbox;
        this.log = log;
        this.recorder = new ActionRecorder(log, actor);
    }

    /** Of whoever sent the token of this name. */
    static OperatorActions overHttp(String token, Connection connection, SqlIdentifier inbox) throws SQLException {
        return new OperatorActions(connection, inbox, log(connection, inbox), Actor.overHttp(token));
    }

    /** Of the user that runs this process, under the name by which it logged in to the database. */
    public static OperatorActions onCommandLine(Connection connection, SqlIdentifier inbox) throws SQLException {
        ActionLog log = log(connection, inbox);
        return new OperatorActions(connection, inbox, log, Actor.onCommandLine(log.sessionUser()));
    }

    /** What operators have changed. */
    public static ActionLog log(Connection connection, SqlIdentifier inbox) {
        return new ActionLog(connection, InboxSchema.actions(inbox), null);
    }

    /** What an operator should know before the change; null: nothing. */
    public @Nullable String warning() {
        return recorder.isRecorded()
                ? null
                : "The tables have no " + InboxSchema.actions(inbox)
                        + ", so this change is not recorded: run migrate as the tables' owner";
    }

    /** Changes the selected parked events; returns how many. */
    public long change(ParkedChange change, ParkedSelection which) throws SQLException {
        String selection = text(which);
        return change.apply(
                connection, new SelectedRows(inbox), which, events -> record(change.action(), selection, events));
    }

    private static String text(ParkedSelection which) {
        return new SelectionText()
                .withNumbers(which.numbers())
                .with("group", which.group())
                .with("topic", which.topic())
                .with("key", which.key())
                .with("type", which.type())
                .with("handler", which.handler())
                .with("error", which.error())
                .with("since", which.since())
                .with("since", which.age())
                .toString();
    }

    /** A change that is one transaction. */
    @FunctionalInterface
    public interface Change<T> {
        T run() throws SQLException;
    }

    /** How many rows a change has changed. */
    @FunctionalInterface
    public interface Count<T> {
        long of(T result);
    }

    /**
     * Does and records a change in one transaction. Several calls for one operator have one row together.
     *
     * @param action for the log: {@code retire}
     * @param selection what is changed
     */
    public <T> T inTransaction(String action, SelectionText selection, Count<T> count, Change<T> change)
            throws SQLException {
        return Transactions.inTransaction(connection, () -> {
            T result = change.run();
            long changed = count.of(result);
            if (changed > 0) {
                record(action, selection.toString(), changed);
            }
            return result;
        });
    }

    private void record(String action, String selection, long events) throws SQLException {
        recorder.changed(action, selection, events);
        if (recorder.isRecorded()) {
            log.removeOld();
        }
    }
}
