package dev.twinbox.inbox;

import dev.twinbox.ParkedEvent;
import dev.twinbox.TwinboxException;
import dev.twinbox.inbox.jdbc.BlockedKey;
import dev.twinbox.inbox.jdbc.JtaDatabase;
import dev.twinbox.inbox.jdbc.ParkedRows;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The parked events of this application's inbox. For operators' pages and scripts:
 *
 * <pre>{@code
 * @Inject ParkedEvents parked;
 * … for (ParkedEvent event : parked.list(0, 100)) {
 *       if (event.state() == ParkedEvent.State.DEAD) parked.retry(event.number());
 *   }
 * }</pre>
 *
 * <p>Each call has a transaction of its own and is committed when it returns, even if the caller's transaction is
 * rolled back. A call changes rows; the running receivers act on them. All methods may be called from any thread once
 * the application has started.
 */
@ApplicationScoped
public class ParkedEvents {

    /** Most events that one call of {@link #list} returns. */
    public static final int MOST_LISTED = 1000;

    /** Written when the application starts. */
    private volatile @Nullable ParkedRows rows;

    private volatile @Nullable JtaDatabase database;

    /** Called when the receiver starts. */
    void started(ParkedRows ofReceiver, JtaDatabase itsDatabase) {
        rows = ofReceiver;
        database = itsDatabase;
    }

    /**
     * Parked events in the order in which they were parked, of all groups that share the table. Their values are null,
     * because a page of values might not fit into memory. {@link #find} reads the value.
     *
     * @param after only events with a greater {@link ParkedEvent#number number}; 0 for the first page
     * @param most how many, from 1 to {@value #MOST_LISTED}
     * @throws IllegalArgumentException if {@code most} is out of its range
     * @throws TwinboxException if the database cannot be reached
     */
    public List<ParkedEvent> list(long after, int most) {
        if (most < 1 || most > MOST_LISTED) {
            throw new IllegalArgumentException("most is " + most + "; it has to be from 1 to " + MOST_LISTED);
        }
        return run(parked -> connection -> parked.list(connection, null, after, most));
    }

    /**
     * One parked event. Empty if there is none of this number, or none any more.
     *
     * @throws TwinboxException if the database cannot be reached
     */
    public Optional<ParkedEvent> find(long number) {
        return run(parked -> connection -> parked.find(connection, number));
    }

    /**
     * Makes an event due at once, with its full number of attempts. Later events of its key follow in order when it
     * succeeds.
     *
     * @return false if there is nothing to do: the event is gone, is already due, or waits for an earlier one
     * @throws TwinboxException if the database cannot be reached
     */
    public boolean retry(long number) {
        return run(parked -> connection -> parked.retry(connection, number));
    }

    /**
     * Discards an event for good. It counts as handled, so a redelivery is skipped. Later events of its key go on.
     *
     * @return false if the event is gone
     * @throws TwinboxException if the database cannot be reached
     */
    public boolean discard(long number) {
        ParkedRows.Discarded discarded = run(parked -> connection -> parked.discard(connection, number));
        BlockedKey key = discarded.key();
        if (key != null) {
            // A second transaction, because it has to see what was parked after the event in the meantime.
            run(parked -> connection -> {
                parked.promote(connection, key);
                return true;
            });
        }
        return discarded.isDone();
    }

    /** Work on the rows, once the receiver has started. */
    private interface Work<T> {
        JtaDatabase.Work<T> on(ParkedRows rows);
    }

    private <T> T run(Work<T> work) {
        ParkedRows parked = rows;
        JtaDatabase reached = database;
        if (parked == null || reached == null) {
            throw new TwinboxException(
                    "the receiver has not started, or this application has no @InboxHandler: call it later");
        }
        try {
            return reached.inTransaction(work.on(parked));
        } catch (SQLException e) {
            throw new TwinboxException(
                    "the parked events cannot be reached, try again when the database works: " + e.getMessage(), e);
        }
    }
}
