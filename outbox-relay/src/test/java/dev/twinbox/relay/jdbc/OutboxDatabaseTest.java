package dev.twinbox.relay.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.config.ConfigurationReader;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.ds.PGSimpleDataSource;

class OutboxDatabaseTest {

    @ParameterizedTest
    @CsvSource({
        "'', 5, 5, 20",
        "?connectTimeout=30, 30, 30, 20",
        "?loginTimeout=7&socketTimeout=60, 5, 7, 60",
        "?connectTimeout=3&loginTimeout=9, 3, 9, 20"
    })
    void timeoutsOfTheUrlWinOverTheDefaults(String parameters, int connect, int login, int socket) {
        PGSimpleDataSource source = OutboxDatabase.dataSource(ConfigurationReader.read(
                null,
                Map.of(),
                Map.of(
                        "twinbox.relay.database.url",
                        "jdbc:postgresql://localhost/shop" + parameters,
                        "twinbox.relay.kafka.bootstrap.servers",
                        "localhost:9092")));

        assertThat(source.getConnectTimeout()).isEqualTo(connect);
        assertThat(source.getLoginTimeout()).isEqualTo(login);
        assertThat(source.getSocketTimeout()).isEqualTo(socket);
    }
}
