package dev.twinbox.console.actions;

import dev.twinbox.jdbc.SqlIdentifier;
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

/**
 * The log of what operators have changed. The relay's has the name of the relay in each row, for several relays share a
 * table. Bound to one connection; not for several threads.
 */
public final class ActionLog {
    /** Most rows that one statement removes. */
    private static final int BATCH = 1_000;

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
            insert into {actions} ({column}who, via, action, selection, events) values ({value}?, ?, ?, ?, ?)
            returning number
            """;

    private static final String ADD = """
            -- actions: record more events
            update {actions} set events = events + ? where number = ?
            """;

    private static final String PAGE = """
            -- actions: page
            select number, at, who, via, action, selection, events from {actions}
            where {own}number < ? and at >= statement_timestamp() - interval '720 hours' order by number desc limit ?
            """;

    private static final String REMOVE_OLD = """
            -- actions: remove old ones
            delete from {actions} where number = any (array(
              select number from {actions} where {own}at < statement_timestamp() - interval '720 hours'
              order by at limit ?))
            """;

    /**
     * A change as it is recorded.
     *
     * @param who the token's name, or the users of the database and of the operating system
     * @param via how it was asked for: {@code http} or {@code command-line}
     * @param selection which parked events were selected, or which topic; null: the change is about the whole
     * @param events how many were changed; null: the change is not about events
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
    private final SqlIdentifier table;
    private final @Nullable String relay;

    /** @param relay whose rows these are; null: the table belongs to one inbox */
    public ActionLog(Connection connection, SqlIdentifier table, @Nullable String relay) {
        this.connection = connection;
        this.table = table;
        this.relay = relay;
    }

    /** Whether there is a table. Those of earlier versions do not have it. */
    public boolean exists() throws SQLException {
        try (PreparedStatement exists = connection.prepareStatement(EXISTS)) {
            exists.setString(1, table.sql());
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
            int i = setRelay(insert);
            insert.setString(++i, action.who());
            insert.setString(++i, action.via());
            insert.setString(++i, action.action());
            insert.setString(++i, action.selection());
            insert.setObject(++i, action.events());
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
            int i = setRelay(select);
            select.setLong(++i, before);
            select.setInt(++i, most);
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
            remove.setInt(setRelay(remove) + 1, BATCH);
            remove.executeUpdate();
        }
    }

    private int setRelay(PreparedStatement statement) throws SQLException {
        if (relay == null) {
            return 0;
        }
        statement.setString(1, relay);
        return 1;
    }

    private PreparedStatement prepare(String sql) throws SQLException {
        boolean isOfRelay = relay != null;
        return connection.prepareStatement(sql.replace("{actions}", table.sql())
                .replace("{column}", isOfRelay ? "relay, " : "")
                .replace("{value}", isOfRelay ? "?, " : "")
                .replace("{own}", isOfRelay ? "relay = ? and " : ""));
    }
}
