package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.ParkedQueue;
import java.sql.SQLException;
import java.util.List;
import org.apache.kafka.clients.producer.Producer;

/** Where the delivery modes differ for parked events. Only for the retry thread. */
interface RetryPublication {
    /** Before {@link #takeUp}, and with no transaction of the database open. */
    void open();

    /** Settles what a predecessor was sending when its session ended, in a transaction that holds the lease. */
    void takeUp(ParkedQueue table) throws SQLException;

    /** The producer for the next batch. Opened before its rows are claimed: whoever has the lease after us fences it. */
    Producer<byte[], byte[]> producer();

    /** Claims rows for the next batch, in a transaction that holds the lease. */
    List<ParkedQueue.Claimed> claim(ParkedQueue table, List<ParkedQueue.Candidate> chosen) throws SQLException;

    /** A batch is about to be sent. */
    void begin();

    /** The numbers of what Kafka has of a batch, or will have after {@link #commit}. */
    List<Long> sent(RetryBatch batch);

    /**
     * What {@link #sent} has told is in Kafka from now on.
     *
     * @param putBack makes rows that are not among it claimed no more
     */
    void commit(List<Long> sent, PutBack putBack) throws SQLException, LeaseLostException;

    /** A batch has failed; its producer is closed. */
    void abandon();

    /** Closes the producer, if there is one. */
    void closeProducer();

    /** A transaction of the database that holds the lease. */
    interface PutBack {
        void run() throws SQLException, LeaseLostException;
    }
}
