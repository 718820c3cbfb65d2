package dev.twinbox.relay;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.Producer;

/** What the threads of one {@link RelaySession} share. It opens their further connections, and ends all of them at once. */
final class SessionContext {
    private final Relay.Surroundings surroundings;
    private final Lease lease;
    private final Parking parking;
    private final Gate gate;
    private final Failures failures;
    private final InFlight inFlight;
    private final Admission admission;
    private final Object parkedRows = new Object();
    private final List<Connection> connections = new ArrayList<>(); // guarded by itself
    private boolean ended; // guarded by connections

    /** @param gate passed before anything is read or sent */
    SessionContext(Relay.Surroundings surroundings, Lease lease, Parking parking, Gate gate) {
        this.gate = gate;
        this.surroundings = surroundings;
        this.lease = lease;
        this.parking = parking;
        this.failures = new Failures(surroundings.main());
        this.inFlight = new InFlight(surroundings.config().page());
        this.admission = new Admission(surroundings.config(), surroundings.topics(), surroundings.verdicts());
    }

    /** A connection that ends with the session. */
    Connection open() throws SQLException {
        Connection connection = surroundings.database().connect();
        synchronized (connections) {
            if (ended) {
                RelaySession.abort(connection);
            }
            connections.add(connection);
        }
        return connection;
    }

    /** The table of parked events on a connection of its own. */
    ParkedTable openParked() throws SQLException {
        return new ParkedTable(open(), config().tables(), config().name());
    }

    /** Ends all connections, and with them whatever waits for an answer on one. */
    void abortConnections() {
        synchronized (connections) {
            ended = true;
            connections.forEach(RelaySession::abort);
        }
    }

    RelayConfig config() {
        return surroundings.config();
    }

    /** A new producer; the purpose distinguishes it from the other ones of this process. */
    Producer<byte[], byte[]> openProducer(String purpose) {
        return surroundings.producers().apply(purpose);
    }

    Topics topics() {
        return surroundings.topics();
    }

    KafkaLogin login() {
        return KafkaLogin.of(config().kafka());
    }

    Verdicts verdicts() {
        return surroundings.verdicts();
    }

    Progress progress() {
        return surroundings.progress();
    }

    Waiter main() {
        return surroundings.main();
    }

    Lease lease() {
        return lease;
    }

    Parking parking() {
        return parking;
    }

    Gate gate() {
        return gate;
    }

    /** To be held by whoever changes which rows of a key are parked. */
    Object parkedRows() {
        return parkedRows;
    }

    Failures failures() {
        return failures;
    }

    InFlight inFlight() {
        return inFlight;
    }

    Admission admission() {
        return admission;
    }
}
