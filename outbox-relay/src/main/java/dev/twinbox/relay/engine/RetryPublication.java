package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.ParkedQueue;
import java.sql.SQLException;
import java.util.List;
import org.apache.kafka.clients.producer.Producer;

/** The differences between the delivery modes, for parked events. Only for the retry thread. */
interface RetryPublication {
    /** Called before {@link #takeUp}, and without an open database transaction. */
    void open();

    /**
     * Settles the events that a predecessor was sending when its session ended. Runs in a transaction that holds the
     * lease.
     */
    void takeUp(ParkedQueue table) throws SQLException;

    /**
     * The producer for the next batch. It is opened before rows are claimed, so that the next owner of the lease fences
     * it.
     */
    Producer<byte[], byte[]> producer();

    /** Claims rows for the next batch, in a transaction that holds the lease. */
    List<ParkedQueue.Claimed> claim(ParkedQueue table, List<ParkedQueue.Candidate> chosen) throws SQLException;

    /** A batch is about to be sent. */
    void begin();

    /** The numbers of the events of a batch that Kafka has, or will have after {@link #commit}. */
    List<Long> sent(RetryBatch batch);

    /**
     * From now on, Kafka has the events that {@link #sent} has returned.
     *
     * @param putBack unclaims all other rows
     */
    void commit(List<Long> sent, PutBack putBack) throws SQLException, LeaseLostException;

    /** A batch has failed; its producer is closed. */
    void abandon();

    /** Whether Kafka must be told again soon what it has, or else would forget it. */
    boolean isRefreshDue();

    /** Tells Kafka again what it has. Called after {@link #takeUp}, and while no row is claimed. */
    void refresh();

    /** Closes the producer, if there is one. */
    void closeProducer();

    /** A database transaction that holds the lease. */
    interface PutBack {
        void run() throws SQLException, LeaseLostException;
    }
}
