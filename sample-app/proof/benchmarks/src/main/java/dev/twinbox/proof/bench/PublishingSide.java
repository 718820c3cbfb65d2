package dev.twinbox.proof.bench;

import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;

/** One way to get the same events onto the same topic. */
interface PublishingSide {

    /** How reports call it. */
    String label();

    /** Puts back what the last run used up; not timed. */
    void prepare() throws SQLException, IOException;

    /**
     * Publishes the whole workload in a fresh JVM.
     *
     * @return from just before its first read (or send, if it has nothing to read) to its last acknowledgement
     */
    Duration run(Deadline deadline) throws SQLException, IOException, InterruptedException;
}
