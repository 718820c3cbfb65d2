package dev.twinbox.inbox;

import dev.twinbox.TwinboxException;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The parked events of this application's inbox, for whoever looks after them:
 *
 * <pre>{@code
 * @Inject ParkedEvents parked;
 * … for (ParkedEvent event : parked.list(0, 100)) {
 *       if (event.state() == ParkedEvent.State.DEAD) parked.redrive(event.number());
 *   }
 * }</pre>
 *
 * Each call has a transaction of its own and is committed when it returns, whatever becomes of the caller's. It changes rows;
 * the running receivers act on them. All methods may be called from any thread, once the application is started.
 */
@ApplicationScoped
public class ParkedEvents {

    /** Most events that one call of {@link #list} returns. */
    public static final int MOST_LISTED = 1000;

    /** Written when the application starts. */
    private volatile @Nullable ParkedTable table;

    private volatile @Nullable ShortTransaction transaction;

    /** The receiver is there. */
    void started(ParkedTable ofReceiver, ShortTransaction ofReceiversDatabase) {
        table = ofReceiver;
        transaction = ofReceiversDatabase;
    }

    /**
     * Parked events in the order in which they were parked, of all groups that share the table. Their values are left out
     * (null): a page of them might not fit into memory; {@link #find} has them.
     *
     * @param after only those with a greater {@link ParkedEvent#number number}; 0 for the first page
     * @param most how many, from 1 to {@value #MOST_LISTED}
     * @throws IllegalArgumentException if {@code most} is out of its range
     * @throws TwinboxException if the database can not be asked
     */
    public List<ParkedEvent> list(long after, int most) {
        if (most < 1 || most > MOST_LISTED) {
            throw new IllegalArgumentException("most is " + most + "; it has to be from 1 to " + MOST_LISTED);
        }
        return run(parked -> connection -> parked.list(connection, null, after, most));
    }

    /**
     * One parked event; empty if there is none of this number (any more).
     *
     * @throws TwinboxException if the database can not be asked
     */
    public Optional<ParkedEvent> find(long number) {
        return run(parked -> connection -> parked.find(connection, number));
    }

    /**
     * Has an event tried again at once, with all its attempts before it. Those behind it follow in order when it succeeds.
     *
     * @return false if there is nothing to do: it does not exist any more, is due already, or waits behind another one
     * @throws TwinboxException if the database can not be asked
     */
    public boolean redrive(long number) {
        return run(parked -> connection -> parked.redrive(connection, number));
    }

    /**
     * Gives an event up for good: it counts as handled, also when it is delivered again. Those behind it go on.
     *
     * @return false if it does not exist any more
     * @throws TwinboxException if the database can not be asked
     */
    public boolean discard(long number) {
        ParkedTable.Discarded discarded = run(parked -> connection -> parked.discard(connection, number));
        ParkedTable.Line line = discarded.line();
        if (line != null) {
            // In a second transaction: it has to see who parked behind the event meanwhile.
            run(parked -> connection -> {
                parked.promote(connection, line);
                return true;
            });
        }
        return discarded.isDone();
    }

    /** What is to be done, once it is known with which table. */
    private interface Work<T> {
        ShortTransaction.Work<T> on(ParkedTable table);
    }

    private <T> T run(Work<T> work) {
        ParkedTable parked = table;
        ShortTransaction shortTransaction = transaction;
        if (parked == null || shortTransaction == null) {
            throw new TwinboxException("the receiver has not started, or this application has no @InboxHandler");
        }
        try {
            return shortTransaction.run(work.on(parked));
        } catch (SQLException e) {
            throw new TwinboxException("the parked events can not be reached: " + e.getMessage(), e);
        }
    }
}
