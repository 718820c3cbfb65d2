package dev.twinbox.relay.engine;

import dev.twinbox.jdbc.Transactions;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.ParkedInsert;
import dev.twinbox.relay.jdbc.ParkedTable;
import dev.twinbox.relay.jdbc.PositionTable;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * The tables that the main thread of a session writes under its lease, on the connection that took the lease. After a
 * failure this connection ends with the session.
 */
final class LeasedTables {
    private final Connection connection;
    private final PositionTable positions;
    private final ParkedTable parked;
    private final ParkedInsert parking;
    private final Lease lease;

    LeasedTables(Connection connection, RelayConfig config, Lease lease) throws SQLException {
        this.connection = connection;
        this.positions = new PositionTable(connection, config.tables(), config.name());
        this.parked = new ParkedTable(connection, config.tables(), config.name());
        this.parking = new ParkedInsert(connection, config.tables(), config.name());
        this.lease = lease;
    }

    PositionTable positions() {
        return positions;
    }

    ParkedTable parked() {
        return parked;
    }

    ParkedInsert parking() {
        return parking;
    }

    Lease lease() {
        return lease;
    }

    /**
     * Appends a position.
     *
     * @return false if another process has the lease; then nothing was saved
     */
    boolean save(PositionTable.Saved next) throws SQLException {
        return positions.save(next, lease.owner(), lease.epoch());
    }

    /** As {@link #save}, together with the next position. */
    boolean prepare(PositionTable.Prepared row) throws SQLException {
        return positions.prepare(row, lease.owner(), lease.epoch());
    }

    /** Keeps other processes from taking the lease until the end of the transaction. */
    void holdLease() throws SQLException, LeaseLostException {
        if (!parked.holdLease(lease.owner(), lease.epoch())) {
            throw new LeaseLostException("epoch " + lease.epoch() + " had ended when events were to be parked");
        }
    }

    void inTransaction(Transactions.Action<LeaseLostException> action) throws SQLException, LeaseLostException {
        Transactions.inTransaction(connection, action);
    }

    /** Ends the connection. Other processes do not know then that the lease is free. */
    void abort() {
        OutboxDatabase.abort(connection);
    }
}
