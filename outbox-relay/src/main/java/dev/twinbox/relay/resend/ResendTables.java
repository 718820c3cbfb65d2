package dev.twinbox.relay.resend;

import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.ParkedTable;
import dev.twinbox.relay.jdbc.PausedTopicTable;
import dev.twinbox.relay.jdbc.PositionTable;
import dev.twinbox.relay.jdbc.SentEvents;
import dev.twinbox.relay.kafka.ProducerSettings;
import java.sql.Connection;
import java.sql.SQLException;

/** The tables on one connection. */
record ResendTables(
        Connection connection,
        ResendTable jobs,
        SentEvents events,
        PositionTable positions,
        PausedTopicTable paused,
        ParkedTable parked) {
    ResendTables(Connection connection, RelayConfig config) throws SQLException {
        this(
                connection,
                new ResendTable(connection, config.tables(), config.name()),
                new SentEvents(connection, config.tables(), config.name(), ProducerSettings.largest(config)),
                new PositionTable(connection, config.tables(), config.name()),
                new PausedTopicTable(connection, config.tables(), config.name()),
                new ParkedTable(connection, config.tables(), config.name()));
    }
}
