package dev.twinbox.relay.jdbc;

import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The log of what operators have changed. Bound to one connection; not for several threads. */
public final class ActionTable {
    /** Most rows that one statement removes. */
    static final int BATCH = 1_000;

    private static final String EXISTS = """
            -- actions: is there a table
            select to_regclass(?) is not null
            """;

    private static final String SESSION_USER = """
            -- actions: who is connected
            select session_user
            """;

    private static final String INSERT = """
            -- actions: record
            insert into {actions} (relay, who, via, action, selection, events) values (?, ?, ?, ?, ?, ?) returning number
            """;

    private static final String ADD = """
            -- actions: record more events
            update {actions} set events = events + ? where number = ?
            """;

    static final String PAGE = """
            -- actions: page
            select number, at, who, via, action, selection, events from {actions}
            where relay = ? and number < ? order by number desc limit ?
            """;

    static final String REMOVE_OLD = """
            -- actions: remove old ones
            delete from {actions} where number = any (array(
              select number from {actions} where relay = ? and at < clock_timestamp() - interval '720 hours'
              order by at limit ?))
            """;

    /**
     * A change as it is recorded.
     *
     * @param who the token's name, or the users of the database and of the operating system
     * @param via how it was asked for: {@code http} or {@code command-line}
     * @param selection which parked events were selected; null: the relay as a whole
     * @param events how many were changed; null if there is no selection
     */
    public record Action(
            String who,
            String via,
            String action,
            @Nullable String selection,
            @Nullable Long events) {}

    /** A row of the table. */
    public record Line(long number, Instant at, Action action) {}

    private final Connection connection;
    private final OutboxSchema tables;
    private final String relay;

    public ActionTable(Connection connection, OutboxSchema tables, String relay) {
        this.connection = connection;
        this.tables = tables;
        this.relay = relay;
    }

    /** Whether there is a table. Schema versions before 9 do not have it. */
    public boolean exists() throws SQLException {
        try (PreparedStatement exists = connection.prepareStatement(EXISTS)) {
            exists.setString(1, tables.actions().sql());
            try (ResultSet row = exists.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }

    /** The user that has logged in to the database. */
    public String sessionUser() throws SQLException {
        try (Statement user = connection.createStatement();
                ResultSet row = user.executeQuery(SESSION_USER)) {
            row.next();
            return row.getString(1);
        }
    }

    /** Records a change, in the transaction of the connection; returns the number of the row. */
    public long insert(Action action) throws SQLException {
        try (PreparedStatement insert = prepare(INSERT)) {
            insert.setString(1, relay);
            insert.setString(2, action.who());
            insert.setString(3, action.via());
            insert.setString(4, action.action());
            insert.setString(5, action.selection());
            insert.setObject(6, action.events());
            try (ResultSet row = insert.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    /** Records more events of a change, in the transaction of the connection. */
    public void add(long number, long events) throws SQLException {
        try (PreparedStatement add = prepare(ADD)) {
            add.setLong(1, events);
            add.setLong(2, number);
            add.executeUpdate();
        }
    }

    /**
     * The newest first; none if there is no table.
     *
     * @param before number of the last row of the page before; {@code Long.MAX_VALUE}: this is the first page
     */
    public List<Line> page(long before, int most) throws SQLException {
        if (!exists()) {
            return List.of();
        }
        try (PreparedStatement select = prepare(PAGE)) {
            select.setString(1, relay);
            select.setLong(2, before);
            select.setInt(3, most);
            List<Line> lines = new ArrayList<>();
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    lines.add(line(row));
                }
            }
            return lines;
        }
    }

    private static Line line(ResultSet row) throws SQLException {
        Action action = new Action(
                row.getString("who"),
                row.getString("via"),
                row.getString("action"),
                row.getString("selection"),
                row.getObject("events", Long.class));
        return new Line(
                row.getLong("number"), row.getObject("at", OffsetDateTime.class).toInstant(), action);
    }

    /** Removes rows that are older than 30 days, if there are any; at most a thousand. */
    public void removeOld() throws SQLException {
        if (!exists()) {
            return;
        }
        try (PreparedStatement remove = prepare(REMOVE_OLD)) {
            remove.setString(1, relay);
            remove.setInt(2, BATCH);
            remove.executeUpdate();
        }
    }

    private PreparedStatement prepare(String sql) throws SQLException {
        return connection.prepareStatement(sql(sql, tables));
    }

    static String sql(String statement, OutboxSchema tables) {
        return statement.replace("{actions}", tables.actions().sql());
    }
}
