package dev.twinbox.it;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the database outside of the server's transactions and pools. */
final class Committed {

    private Committed() {}

    static Connection connect(String urlProperty) throws SQLException {
        return DriverManager.getConnection(
                System.getProperty(urlProperty),
                System.getProperty("twinbox.it.user"),
                System.getProperty("twinbox.it.password"));
    }

    /** The texts of an account's events, ordered by seq. */
    static List<String> events(long account) throws SQLException {
        return column(
                "twinbox.it.url",
                "select convert_from(payload, 'UTF8')::json ->> 'what' from outbox_event where key = ? order by seq",
                Long.toString(account));
    }

    static int accounts(long id) throws SQLException {
        return count("twinbox.it.url", "select from account where id = ?", id);
    }

    static int effects(long id) throws SQLException {
        return count("twinbox.it.second.url", "select from effect where id = ?", id);
    }

    static List<Map<String, Object>> rows(String urlProperty, String sql, Object... parameters) throws SQLException {
        try (Connection connection = connect(urlProperty);
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            List<Map<String, Object>> rows = new ArrayList<>();
            try (ResultSet found = statement.executeQuery()) {
                while (found.next()) {
                    Map<String, Object> row = new LinkedHashMap<>();
                    for (int i = 1; i <= found.getMetaData().getColumnCount(); i++) {
                        row.put(found.getMetaData().getColumnLabel(i), found.getObject(i));
                    }
                    rows.add(row);
                }
            }
            return rows;
        }
    }

    static List<String> column(String urlProperty, String sql, Object... parameters) throws SQLException {
        return rows(urlProperty, sql, parameters).stream()
                .map(row -> String.valueOf(row.values().iterator().next()))
                .toList();
    }

    static int count(String urlProperty, String sql, Object... parameters) throws SQLException {
        return rows(urlProperty, sql, parameters).size();
    }

    static void execute(String urlProperty, String sql) throws SQLException {
        try (Connection connection = connect(urlProperty);
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.execute();
        }
    }
}
