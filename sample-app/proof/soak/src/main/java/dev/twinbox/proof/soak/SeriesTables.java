package dev.twinbox.proof.soak;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.proof.landscape.Landscape;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** The tables of {@link SeriesTraffic} and of the handlers that the soak adds to the shipping service. */
final class SeriesTables {

    private static final String WRITTEN = """
            create table series (type text, key text, last bigint not null, primary key (type, key));
            create table series_event (id uuid primary key, type text not null, key text not null, number bigint not null);
            """;

    // No unique key: a second effect must show.
    private static final String APPLIED = """
            create table series_effect (id bigint generated always as identity, event_id text not null, type text not null,
              key text not null, number bigint not null, version int not null,
              record text not null);
            grant insert on series_effect to %s;
            """;

    private SeriesTables() {}

    static void createWritten(PostgresServer postgres) throws SQLException {
        execute(postgres, Landscape.ORDERS_DATABASE, WRITTEN);
    }

    static void createApplied(PostgresServer postgres) throws SQLException {
        execute(postgres, Landscape.SHIPPING_DATABASE, APPLIED.formatted(Roles.SHIPPING));
    }

    private static void execute(PostgresServer postgres, String database, String sql) throws SQLException {
        try (Connection connection = postgres.connect(database);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
