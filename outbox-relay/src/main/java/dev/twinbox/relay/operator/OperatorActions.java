package dev.twinbox.relay.operator;

import dev.twinbox.jdbc.Transactions;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.ActionTable;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.ParkedSelection;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an operator changes, by the command line or over HTTP. Each change is recorded in its transaction: without its
 * row in the action log it does not happen. For one change on one connection in auto-commit.
 */
public final class OperatorActions {
    private static final Logger LOG = LoggerFactory.getLogger(OperatorActions.class);

    private static final String HTTP = "http";
    private static final String COMMAND_LINE = "command-line";
    private static final int LONGEST_USER = 100;

    private final RelayConfig config;
    private final Connection connection;
    private final ActionTable log;
    private final String via;
    private final String who;
    private @Nullable Long number; // of the row that has the events of the change

    private OperatorActions(RelayConfig config, Connection connection, ActionTable log, String via, String who) {
        this.config = config;
        this.connection = connection;
        this.log = log;
        this.via = via;
        this.who = who;
    }

    /** Of whoever sent the token of this name. */
    public static OperatorActions overHttp(String token, RelayConfig config, Connection connection) {
        return new OperatorActions(config, connection, table(config, connection), HTTP, token);
    }

    /** Of the user that runs this process, under the name by which it logged in to the database. */
    public static OperatorActions onCommandLine(RelayConfig config, Connection connection) throws SQLException {
        ActionTable log = table(config, connection);
        String user = System.getProperty("user.name", "?").replaceAll("\\p{Cc}", "?");
        String shown = user.length() <= LONGEST_USER ? user : user.substring(0, LONGEST_USER);
        return new OperatorActions(config, connection, log, COMMAND_LINE, log.sessionUser() + " (" + shown + ")");
    }

    private static ActionTable table(RelayConfig config, Connection connection) {
        return new ActionTable(connection, config.tables(), config.name());
    }

    /** Who changes something, as it is recorded. */
    public String who() {
        return who;
    }

    /** Changes the selected parked events; returns how many. */
    public long change(ParkedChange change, ParkedSelection which) throws SQLException {
        boolean isRecorded = isRecorded();
        ParkedRows rows = new ParkedRows(connection, config.tables(), config.name(), events -> {
            if (isRecorded) {
                record(change, which, events);
            }
        });
        return change.apply(rows, which);
    }

    /** The statements of one change have one row together. */
    private void record(ParkedChange change, ParkedSelection which, long events) throws SQLException {
        if (number == null) {
            number = log.insert(action(change.action(), SelectionText.of(which), events));
        } else {
            log.add(number, events);
        }
    }

    /** Pauses the relay. */
    public void pause() throws SQLException {
        LeaseTable lease = lease();
        long systemIdentifier = OutboxDatabase.identify(connection).systemIdentifier();
        inTransaction("pause", () -> lease.pause(systemIdentifier));
    }

    /** Resumes the relay; false if it was not paused. */
    public boolean resume() throws SQLException {
        LeaseTable lease = lease();
        return inTransaction("resume", lease::resume);
    }

    private interface Change {
        /** Returns whether it changed anything. */
        boolean run() throws SQLException;
    }

    private boolean inTransaction(String name, Change change) throws SQLException {
        boolean isRecorded = isRecorded();
        return Transactions.inTransaction(connection, () -> {
            boolean isChanged = change.run();
            if (isChanged && isRecorded) {
                log.insert(action(name, null, null));
            }
            return isChanged;
        });
    }

    private ActionTable.Action action(String name, @Nullable String selection, @Nullable Long events) {
        return new ActionTable.Action(who, via, name, selection, events);
    }

    private LeaseTable lease() throws SQLException {
        return new LeaseTable(connection, config.tables(), config.name());
    }

    /** Tables of an earlier version can be operated on all the same. */
    private boolean isRecorded() throws SQLException {
        boolean exists = log.exists();
        if (!exists) {
            LOG.warn(
                    "The tables have no {}, so what {} changes now is not recorded: run \"twinbox-relay migrate\" as the "
                            + "tables' owner",
                    config.tables().actions(),
                    who);
        }
        return exists;
    }
}
