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
 * The events that this application has handled, as its inbox knows them. For a deliberate replay:
 *
 * <pre>{@code
 * @Inject HandledEvents handled;
 * … handled.forget(Handled.by("shipping").from(lastMidnight));
 * }</pre>
 *
 * <p>A forgotten event has its effect again when it is redelivered. To redeliver events, stop the application and reset
 * the group's offsets. Nothing is undone: the handler must cope with what the first effect left. A parked event is not
 * a handled one, see {@link ParkedEvents}.
 *
 * <p>Each call has a transaction of its own and is committed when it returns, even if the caller's transaction is
 * rolled back. All methods may be called from any thread once the application has started.
 */
@ApplicationScoped
public class HandledEvents {

    /** Written when the application starts. */
    private volatile @Nullable Access access;

    /**
     * What the calls work with.
     *
     * @param handlers names of the application's handlers whose effects are protected by inbox rows
     */
    record Access(String group, SortedSet<String> handlers, InboxRows rows, JtaDatabase database) {}

    /** Called when the receiver starts. */
    void started(Access ofReceiver) {
        access = ofReceiver;
    }

    /**
     * Counts the chosen events that the inbox knows.
     *
     * @throws IllegalArgumentException if there is no handler of this name; the message lists the handlers
     * @throws TwinboxException if the database cannot be reached
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
     * Forgets events, so that they are handled again when they are redelivered. It deletes 10,000 rows per transaction.
     * After an error, another call continues.
     *
     * @return how many events were forgotten
     * @throws IllegalArgumentException if there is no handler of this name; the message lists the handlers
     * @throws TwinboxException if the database fails
     */
    public long forget(Handled which) {
        Access mine = access();
        try {
            checkHandler(mine, which.handler());
            long forgotten = 0;
            InboxRows.Forgotten last = InboxRows.Forgotten.NONE;
            do {
                InboxRows.Forgotten after = last;
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
                    "group " + mine.group() + " has no handler \"" + handler + "\"; its handlers are " + known);
        }
    }

    private Access access() {
        Access mine = access;
        if (mine == null) {
            throw new IllegalStateException("the receiver has not started, or this application has no @InboxHandler");
        }
        return mine;
    }
}
