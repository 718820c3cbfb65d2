package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.ParkedTable;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.producer.Producer;
import org.jspecify.annotations.Nullable;

/** Where the delivery modes differ, for the pages of one {@link RelaySession}. Closing it closes its producer at once. */
interface Publication extends AutoCloseable {
    /** Where to go on, and opens the producer. Called once, before all others, by the main thread. */
    PositionTable.Saved begin() throws SQLException, LeaseLostException;

    /** After {@link #begin()}. */
    Producer<byte[], byte[]> producer();

    /** Waits for the page that is to be sent next; null: there will be none. Only for the sending thread. */
    @Nullable Page next() throws InterruptedException;

    /** Whether nothing can be sent in place of a record that the producer does not take. */
    boolean isBrokenByRefusal();

    /** Settles what became certain since the last call. Like all below only for the main thread. */
    void settle() throws SQLException, LeaseLostException;

    /** How long after one save the next one may be put off. */
    Duration saveInterval();

    /**
     * Makes the position behind acknowledged pages durable.
     *
     * @return false: the lease is another's, and nothing was saved
     */
    boolean save(PositionTable.Saved next) throws SQLException;

    /** Parks events, in the transaction of {@link #save}. */
    void park(List<ParkedTable.Entry> entries) throws SQLException;

    /** The transaction of {@link #save} is durable, which was for these pages. */
    void recordSaved(PositionTable.Saved next, List<Page> done);

    /** The position that is certain and of which only we know it; null: there is none. */
    @Nullable Position unconfirmed();

    /** Saves {@link #unconfirmed()}; returns as {@link #save}. */
    boolean confirm(PositionTable.Saved next) throws SQLException;

    /** Whether all that was handed to the producer is settled. */
    boolean isSettled();

    /** Passes on what the next session should know; after {@link #close()}. */
    void passOn(KnownOutcomes known);

    /** Whether a record may be to blame for this failure to send it. */
    boolean mayBlame(Throwable reason);

    @Override
    void close();
}
