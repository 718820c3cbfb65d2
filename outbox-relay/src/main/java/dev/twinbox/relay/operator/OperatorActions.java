package dev.twinbox.relay.operator;

import dev.twinbox.TopicName;
import dev.twinbox.console.actions.ActionLog;
import dev.twinbox.console.actions.ActionRecorder;
import dev.twinbox.console.actions.Actor;
import dev.twinbox.console.actions.SelectionText;
import dev.twinbox.jdbc.Transactions;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.ParkedSelection;
import dev.twinbox.relay.jdbc.PausedTopicTable;
import dev.twinbox.relay.jdbc.SentEvents;
import dev.twinbox.relay.resend.ResendTable;
import dev.twinbox.relay.resend.ResendText;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an operator changes, by the command line or over HTTP. Each change is recorded in its transaction: without its
 * row in the action log it does not happen. For one change on one connection in auto-commit.
 */
public final class OperatorActions {
    private static final Logger LOG = LoggerFactory.getLogger(OperatorActions.class);

    private final RelayConfig config;
    private final Connection connection;
    private final Actor actor;

    private OperatorActions(RelayConfig config, Connection connection, Actor actor) {
        this.config = config;
        this.connection = connection;
        this.actor = actor;
    }

    /** Of whoever sent the token of this name. */
    public static OperatorActions overHttp(String token, RelayConfig config, Connection connection) {
        return new OperatorActions(config, connection, Actor.overHttp(token));
    }

    /** Of the user that runs this process, under the name by which it logged in to the database. */
    public static OperatorActions onCommandLine(RelayConfig config, Connection connection) throws SQLException {
        return new OperatorActions(
                config, connection, Actor.onCommandLine(log(config, connection).sessionUser()));
    }

    private static ActionLog log(RelayConfig config, Connection connection) {
        return new ActionLog(connection, config.tables().actions(), config.name());
    }

    /** Who changes something, as it is recorded. */
    public String who() {
        return actor.who();
    }

    /** Changes the selected parked events; returns how many. */
    public long change(ParkedChange change, ParkedSelection which) throws SQLException {
        ActionRecorder recorder = recorder();
        String selection = text(which);
        ParkedRows rows = new ParkedRows(
                connection,
                config.tables(),
                config.name(),
                events -> recorder.changed(change.action(), selection, events));
        return change.apply(rows, which);
    }

    private static String text(ParkedSelection which) {
        return new SelectionText()
                .withNumbers(which.numbers())
                .with("topic", which.topic())
                .with("key", which.key())
                .with("type", which.type())
                .with("error", which.error())
                .with("since", which.since())
                .with("since", which.age())
                .with("cause", which.cause() == null ? null : which.cause().text())
                .toString();
    }

    /** Pauses the relay. */
    public void pause() throws SQLException {
        LeaseTable lease = lease();
        long systemIdentifier = OutboxDatabase.identify(connection).systemIdentifier();
        inTransaction("pause", null, () -> lease.pause(systemIdentifier));
    }

    /** Resumes the relay; false if it was not paused. */
    public boolean resume() throws SQLException {
        LeaseTable lease = lease();
        return inTransaction("resume", null, lease::resume);
    }

    /**
     * Pauses topics, each in a transaction of its own. They need not exist. Idempotent.
     *
     * @throws RelayException if a name is illegal, or the tables are too old; then none is paused
     */
    public void pauseTopics(Collection<String> topics) throws SQLException {
        PausedTopicTable table = topicTable(topics);
        for (String topic : topics) {
            inTransaction("pause", text(topic), () -> table.pause(topic));
        }
    }

    /**
     * Resumes topics, each in a transaction of its own; returns those that were paused.
     *
     * @throws RelayException as {@link #pauseTopics}
     */
    public Set<String> resumeTopics(Collection<String> topics) throws SQLException {
        PausedTopicTable table = topicTable(topics);
        Set<String> resumed = new LinkedHashSet<>();
        for (String topic : topics) {
            if (inTransaction("resume", text(topic), () -> table.resume(topic))) {
                resumed.add(topic);
            }
        }
        return resumed;
    }

    /**
     * Requests that events are sent again; returns the number of the job.
     *
     * @param held compacted topics among those of the events
     * @throws RelayException if another job is not over
     */
    public long resend(SentEvents.Range range, Collection<String> held) throws SQLException {
        ResendTable table = resendTable();
        Long[] number = new Long[1];
        inTransaction("resend", ResendText.of(range), () -> {
            number[0] = table.request(range, held);
            return number[0] != null;
        });
        if (number[0] == null) {
            throw new RelayException(
                    ExitCode.USAGE, "another job of \"resend\" is not over: wait for its end, or cancel it");
        }
        return number[0];
    }

    /** Cancels a job; false if there is none of this number, or if it is over. */
    public boolean cancelResend(long number) throws SQLException {
        ResendTable table = resendTable();
        return inTransaction("cancel", "job " + number, () -> table.cancel(number));
    }

    private ResendTable resendTable() {
        return new ResendTable(connection, config.tables(), config.name());
    }

    private PausedTopicTable topicTable(Collection<String> topics) throws SQLException {
        for (String topic : topics) {
            try {
                TopicName.check(topic);
            } catch (IllegalArgumentException e) {
                throw new RelayException(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
            }
        }
        PausedTopicTable table = new PausedTopicTable(connection, config.tables(), config.name());
        if (!table.exists()) {
            throw new RelayException(
                    ExitCode.SCHEMA,
                    "topics cannot be paused or resumed, there is no table "
                            + config.tables().paused() + ": run \"twinbox-relay migrate\" as the tables' owner");
        }
        return table;
    }

    private static String text(String topic) {
        return new SelectionText().with("topic", topic).toString();
    }

    private interface Change {
        /** Returns whether it changed anything. */
        boolean run() throws SQLException;
    }

    private boolean inTransaction(String name, @Nullable String selection, Change change) throws SQLException {
        ActionRecorder recorder = recorder();
        return Transactions.inTransaction(connection, () -> {
            boolean isChanged = change.run();
            if (isChanged) {
                recorder.done(name, selection);
            }
            return isChanged;
        });
    }

    private LeaseTable lease() throws SQLException {
        return new LeaseTable(connection, config.tables(), config.name());
    }

    private ActionRecorder recorder() throws SQLException {
        ActionRecorder recorder = new ActionRecorder(log(config, connection), actor);
        if (!recorder.isRecorded()) {
            LOG.warn(
                    "The tables have no {}, so what {} changes now is not recorded: run \"twinbox-relay migrate\" as the "
                            + "tables' owner",
                    config.tables().actions(),
                    actor.who());
        }
        return recorder;
    }
}
