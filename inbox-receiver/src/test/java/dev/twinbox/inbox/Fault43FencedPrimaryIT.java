package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The primary becomes read-only and keeps its connections, while new connections lead to the new primary. The pool gave
 * the receiver the old connections for ever.
 *
 * <p>One server plays both. Its configuration makes it read-only. A setting of the database, which only new connections
 * read, makes it writable again.
 */
@Tag("proof")
class Fault43FencedPrimaryIT {

    private final Database database = MainApp.database();
    private final Topics topics = MainApp.topics();

    @AfterEach
    void reset() {
        asAdministrator("alter system reset default_transaction_read_only", "select pg_reload_conf()");
        asAdministrator("alter database main reset default_transaction_read_only");
    }

    @Test
    void itGoesOnWithoutARestartWhenTheAddressLeadsToTheNewPrimary() {
        long effects = database.count("effect where handler = 'Ejb.onOrder'");
        topics.sendMany("ejb", 0, 20);
        MainApp.awaitLagZero(MainApp.GROUP, "ejb");

        asAdministrator("alter system set default_transaction_read_only = on", "select pg_reload_conf()");
        topics.sendMany("ejb", 0, 20);
        topics.sendMany("ejb", 1, 20);
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(Servers.payara().get("/main/status"))
                        .contains("trouble database=", "read-only transaction"));
        assertThat(Servers.payara().status("/health/ready")).isEqualTo(503);

        asAdministrator("alter database main set default_transaction_read_only = off");
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(
                        () -> assertThat(topics.lag(MainApp.GROUP, "ejb")).isZero());
        MainApp.awaitNoTrouble("main");

        assertThat(database.count("effect where handler = 'Ejb.onOrder'") - effects)
                .isEqualTo(60);
        assertThat(database.count("inbox_parked")).isZero();
    }

    private static void asAdministrator(String... statements) {
        try (Connection connection = Servers.postgres().connect("postgres");
                Statement statement = connection.createStatement()) {
            statement.execute("set session characteristics as transaction read write");
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
