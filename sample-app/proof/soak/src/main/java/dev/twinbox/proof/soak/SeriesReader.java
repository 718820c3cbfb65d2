package dev.twinbox.proof.soak;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.proof.landscape.Landscape;
import dev.twinbox.proof.soak.SeriesLedger.Applied;
import dev.twinbox.proof.soak.SeriesLedger.Written;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads what a {@link SeriesLedger} compares, directly from the server. What was applied is read first. */
final class SeriesReader {

    private static final Duration DATABASE_LIMIT = Duration.ofSeconds(60);
    private static final String APPLIED =
            "-- soak: applied\nselect id, event_id, type, key, number, version, record from series_effect";
    private static final String WRITTEN = "-- soak: written\nselect id, type, key, number from series_event";

    private static final String NUMBER_APPLIED =
            "-- soak: number applied\nselect count(distinct event_id) from series_effect where type = ?";
    private static final String NUMBER_WRITTEN =
            "-- soak: number written\nselect count(*) from series_event where type = ?";

    private static final String LAST = "-- soak: last numbers\nselect key, last from series where type = ?";

    private final PostgresServer postgres;
    private final Moves moves;

    SeriesReader(PostgresServer postgres, Moves moves) {
        this.postgres = postgres;
        this.moves = moves;
    }

    SeriesReport look() throws SQLException {
        List<Applied> applied = applied();
        return SeriesLedger.compare(written(), applied, moves);
    }

    SeriesReport lastLook() throws SQLException {
        List<Applied> applied = applied();
        return SeriesLedger.compareAtTheEnd(written(), applied, moves);
    }

    /** Whether all committed events of a type are applied. */
    boolean isApplied(String type) throws SQLException {
        long effects = number(Landscape.SHIPPING_DATABASE, NUMBER_APPLIED, type);
        return effects == number(Landscape.ORDERS_DATABASE, NUMBER_WRITTEN, type);
    }

    /** The last number of each key. */
    Map<String, Long> last(String type) throws SQLException {
        try (Connection connection = postgres.connect(Landscape.ORDERS_DATABASE, DATABASE_LIMIT);
                PreparedStatement statement = connection.prepareStatement(LAST)) {
            statement.setString(1, type);
            Map<String, Long> last = new HashMap<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    last.put(rows.getString(1), rows.getLong(2));
                }
            }
            return last;
        }
    }

    private long number(String database, String sql, String type) throws SQLException {
        try (Connection connection = postgres.connect(database, DATABASE_LIMIT);
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, type);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    private List<Applied> applied() throws SQLException {
        return read(
                Landscape.SHIPPING_DATABASE,
                APPLIED,
                row -> new Applied(
                        row.getLong(1),
                        row.getString(2),
                        row.getString(3),
                        row.getString(4),
                        row.getLong(5),
                        row.getInt(6),
                        row.getString(7)));
    }

    private List<Written> written() throws SQLException {
        return read(
                Landscape.ORDERS_DATABASE,
                WRITTEN,
                row -> new Written(row.getString(1), row.getString(2), row.getString(3), row.getLong(4)));
    }

    private <T> List<T> read(String database, String sql, Row<T> row) throws SQLException {
        try (Connection connection = postgres.connect(database, DATABASE_LIMIT);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<T> found = new ArrayList<>();
            while (rows.next()) {
                found.add(row.of(rows));
            }
            return found;
        }
    }

    private interface Row<T> {
        T of(ResultSet row) throws SQLException;
    }
}
