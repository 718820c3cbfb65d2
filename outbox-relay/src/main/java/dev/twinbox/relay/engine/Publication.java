package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.ParkedTable;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.apache.kafka.clients.producer.Producer;
import org.jspecify.annotations.Nullable;

/**
 * The differences between the delivery modes, for the pages of one {@link RelaySession}. Closing it closes its producer
 * at once.
 */
interface Publication extends AutoCloseable {
    /**
     * Finds the position to continue from, and opens the producer. The main thread calls it once, before all other
     * methods.
     */
    PositionTable.Saved begin() throws SQLException, LeaseLostException;

    /** Available after {@link #begin()}. */
    Producer<byte[], byte[]> producer();

    /** Waits for the next page to send; null if none will come. Only for the sending thread. */
    @Nullable Page next() throws InterruptedException;

    /** Whether a record that the producer does not take ends the session. */
    boolean isBrokenByRefusal();

    /** Settles what has become certain since the last call. This and all methods below are only for the main thread. */
    void settle() throws SQLException, LeaseLostException;

    /** How long the next save may be delayed after a save. */
    Duration saveInterval();

    /**
     * Makes the position after acknowledged pages durable.
     *
     * @return false if another process has the lease; then nothing was saved
     */
    boolean save(PositionTable.Saved next) throws SQLException;

    /** Parks events, in the transaction of {@link #save}. */
    void park(List<ParkedTable.Entry> entries) throws SQLException;

    /** The transaction of {@link #save} for these pages is durable. */
    void recordSaved(PositionTable.Saved next, List<Page> done);

    /** A position that is certain but only known to this process; null if there is none. */
    @Nullable Position unconfirmed();

    /** Saves {@link #unconfirmed()}; returns as {@link #save}. */
    boolean confirm(PositionTable.Saved next) throws SQLException;

    /** Whether all records handed to the producer have a saved outcome. */
    boolean isSettled();

    /** Passes on what the next session should know. Called after {@link #close()}. */
    void passOn(KnownOutcomes known);

    /** Whether a record may be the cause of this failure to send it. */
    boolean mayBlame(Throwable reason);

    @Override
    void close();
}
