package dev.twinbox.proof.bench;

import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;

/** A way to publish the same events to the same topic. */
interface PublishingSide {

    /** Its name in reports. */
    String label();

    /** Restores what the last run consumed. It is not timed. */
    void prepare() throws SQLException, IOException;

    /**
     * Publishes the whole workload in a new JVM.
     *
     * @return the time from just before its first read, or send if it reads nothing, to its last acknowledgement
     */
    Duration run(Deadline deadline) throws SQLException, IOException, InterruptedException;
}
