package dev.twinbox.inbox;

import dev.twinbox.Handled;
import dev.twinbox.TwinboxException;
import dev.twinbox.inbox.jdbc.InboxRows;
import dev.twinbox.inbox.jdbc.JtaDatabase;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.SQLException;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The events that this application has handled, as its inbox knows them, for a replay on purpose:
 *
 * <pre>{@code
 * @Inject HandledEvents handled;
 * … handled.forget(Handled.by("shipping").from(lastMidnight));
 * }</pre>
 *
 * <p>What is forgotten is applied again when it is delivered again; deliver it by setting the group's offsets back while the
 * application is stopped. Nothing is undone: what the first effect left is for the handler to cope with. An event that is parked
 * is not among the handled ones, see {@link ParkedEvents}.
 *
 * <p>Calls have transactions of their own, and are committed when they return, whatever becomes of the caller's. All methods may
 * be called from any thread, once the application is started.
 */
@ApplicationScoped
public class HandledEvents {

    /** Written when the application starts. */
    private volatile @Nullable Access access;

    /**
     * What the receiver works with.
     *
     * @param handlers names of the application's handlers whose effects are guarded by inbox rows
     */
    record Access(String group, SortedSet<String> handlers, InboxRows rows, JtaDatabase database) {}

    /** The receiver is there. */
    void started(Access ofReceiver) {
        access = ofReceiver;
    }

    /**
     * How many events of this choice the inbox remembers.
     *
     * @throws IllegalArgumentException if there is no handler of this name; the message names those that there are
     * @throws TwinboxException if the database cannot be asked
     */
    public long count(Handled which) {
        Access mine = access();
        try {
            checkHandler(mine, which.handler());
            return mine.database().inTransaction(connection -> mine.rows().count(connection, mine.group(), which));
        } catch (SQLException e) {
            throw new TwinboxException(
                    "Handled events cannot be counted, try again when the database works: " + e.getMessage(), e);
        }
    }

    /**
     * Forgets events, so that they are handled again when they are delivered again. In transactions of 10,000 rows:
     * what an error leaves is left for another call.
     *
     * @return how many
     * @throws IllegalArgumentException if there is no handler of this name; the message names those that there are
     * @throws TwinboxException if the database does not do its work
     */
    public long forget(Handled which) {
        Access mine = access();
        try {
            checkHandler(mine, which.handler());
            long forgotten = 0;
            InboxRows.Forgotten last = InboxRows.Forgotten.NONE;
            do {
                String after = last.lastId();
                last = mine.database()
                        .inTransaction(connection ->
                                mine.rows().forget(connection, mine.group(), which, after, InboxRows.BATCH));
                forgotten += last.number();
            } while (last.number() == InboxRows.BATCH);
            return forgotten;
        } catch (SQLException e) {
            throw new TwinboxException(
                    "Handled events cannot be forgotten, try again when the database works: " + e.getMessage(), e);
        }
    }

    /** <b>Remedy.</b> Give one of the names that the message lists. */
    private static void checkHandler(Access mine, String handler) throws SQLException {
        if (mine.handlers().contains(handler)) {
            return;
        }
        SortedSet<String> known = new TreeSet<>(mine.handlers());
        mine.database().inTransaction(connection -> mine.rows().handlers(connection)).stream()
                .filter(name -> name.group().equals(mine.group()))
                .forEach(name -> known.add(name.handler()));
        if (!known.contains(handler)) {
            throw new IllegalArgumentException(
                    "no handler of group " + mine.group() + " is called \"" + handler + "\"; there are " + known);
        }
    }

    private Access access() {
        Access mine = access;
        if (mine == null) {
            throw new IllegalStateException("the receiver has not started, or the application has no handlers");
        }
        return mine;
    }
}
