package dev.twinbox.inbox.engine;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.inbox.jdbc.InboxSchema;
import dev.twinbox.inbox.jdbc.JtaDatabase;
import dev.twinbox.inbox.jdbc.NewTransaction;
import dev.twinbox.jdbc.SqlIdentifier;
import jakarta.ejb.EJBException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

class DatabaseCheckTest {

    /** As Payara 7 does: its pool has a connection that is older than the outage. The application was not deployed. */
    private static final NewTransaction ABORTED = new NewTransaction() {
        @Override
        public void run(Runnable work) {
            work.run();
            throw new EJBException("Transaction aborted");
        }
    };

    @Test
    void aTransactionThatFailsWithItsConnectionIsAnOutage() throws Exception {
        assertThatThrownBy(check()::run).isInstanceOf(SQLException.class).hasMessageContaining("refused");
    }

    @Test
    void aTransactionThatFailsAloneIsAnOutage() throws Exception {
        NewTransaction notBegun = new NewTransaction() {
            @Override
            public void run(Runnable work) {
                throw new EJBException("Transaction aborted");
            }
        };

        assertThatThrownBy(check(notBegun)::run)
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("the transaction failed: ")
                .hasMessageContaining("Transaction aborted");
    }

    private static DatabaseCheck check() throws Exception {
        return check(ABORTED);
    }

    private static DatabaseCheck check(NewTransaction transaction) throws Exception {
        PGSimpleDataSource nobody = new PGSimpleDataSource();
        nobody.setServerNames(new String[] {InetAddress.getLoopbackAddress().getHostAddress()});
        nobody.setPortNumbers(new int[] {freePort()});
        nobody.setUser("nobody");
        return new DatabaseCheck(
                new JtaDatabase(transaction, null, nobody),
                "jdbc/inbox",
                new InboxSchema(new SqlIdentifier(null, "inbox_event")));
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
