package dev.twinbox.proof.bench;

import java.io.IOException;
import java.sql.SQLException;

/** A way to publish the same events to the same topic. */
interface PublishingSide {

    /** Its name in reports. */
    String label();

    /** Restores what the last run consumed. It is not timed. */
    void prepare() throws SQLException, IOException;

    /** Publishes the whole workload in a new JVM. */
    Timed run(Deadline deadline) throws SQLException, IOException, InterruptedException;
}
