package dev.twinbox.console.actions;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Records one change. What is changed by several transactions has one row together, which each of them adds to. Tables of
 * an earlier version have no log: they can be operated on all the same.
 */
public final class ActionRecorder {
    private final ActionLog log;
    private final Actor actor;
    private final boolean isRecorded;
    private @Nullable Long number; // of the row that has the events of the change

    /** @param log for one change */
    public ActionRecorder(ActionLog log, Actor actor) throws SQLException {
        this.log = log;
        this.actor = actor;
        this.isRecorded = log.exists();
    }

    /** Whether there is a log. */
    public boolean isRecorded() {
        return isRecorded;
    }

    /** Records that events were changed, in the transaction of the change. */
    public void changed(String action, String selection, long events) throws SQLException {
        if (!isRecorded) {
            return;
        }
        if (number == null) {
            number = log.insert(action(action, selection, events));
        } else {
            log.add(number, events);
        }
    }

    /**
     * Records a change that is not about events, in its transaction.
     *
     * @param selection what was changed; null: the whole
     */
    public void done(String action, @Nullable String selection) throws SQLException {
        if (isRecorded) {
            log.insert(action(action, selection, null));
        }
    }

    private ActionLog.Action action(String action, @Nullable String selection, @Nullable Long events) {
        return new ActionLog.Action(actor.who(), actor.via(), action, selection, events);
    }
}
