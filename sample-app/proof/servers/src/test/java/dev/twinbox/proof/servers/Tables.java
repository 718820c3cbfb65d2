package dev.twinbox.proof.servers;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.inbox.jdbc.InboxSchema;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.postgresql.ds.PGSimpleDataSource;

/** The application's database, seen from outside. */
final class Tables {

    private static final String BUSINESS = """
            create table business (
              ref       text primary key,
              account   bigint  not null,
              announced boolean not null,
              tx        xid8    not null default pg_current_xact_id()
            );
            create table account (
              id      bigint primary key,
              note    text not null,
              changes bigint not null default 0
            );
            insert into account (id, note) select id, '' from generate_series(1, 200) id;
            -- The order in which transactions held the lock of an account's row.
            create table account_change (
              account bigint not null,
              number  bigint not null,
              tx      xid8   not null,
              primary key (account, number)
            );
            create function number_change() returns trigger language plpgsql as $$
            begin
              new.changes := old.changes + 1;
              insert into account_change values (new.id, new.changes, pg_current_xact_id());
              return new;
            end $$;
            create trigger number_change before update on account for each row execute function number_change();
            create table effect (
              id      text primary key,
              handler text not null,
              event   text not null,
              app     text not null,
              number  bigserial,
              tx      xid8 not null default pg_current_xact_id()
            );
            create table elsewhere (ref text primary key);
            create view published as
              select convert_from(payload, 'UTF8')::json->>'ref' as ref, tx, seq from outbox_event;
            """;

    private final PostgresServer server;
    private final String name;

    Tables(PostgresServer server, String name) {
        this.server = server;
        this.name = name;
        try {
            server.createDatabase(name);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(server.jdbcUrl(name));
        dataSource.setUser(server.user());
        dataSource.setPassword(server.password());
        new OutboxSchema(null, OutboxSchema.DEFAULT_TABLE).migrate(dataSource);
        new InboxSchema(new SqlIdentifier(null, "inbox_event")).migrate(dataSource);
        execute(BUSINESS);
    }

    void execute(String sql) {
        try (Connection connection = server.connect(name);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    long count(String from, Object... arguments) {
        return Long.parseLong(texts("select count(*) from " + from, arguments).get(0));
    }

    /** The first column of all rows. */
    List<String> texts(String sql, Object... arguments) {
        try (Connection connection = server.connect(name);
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < arguments.length; i++) {
                statement.setObject(i + 1, arguments[i]);
            }
            List<String> texts = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    texts.add(rows.getString(1));
                }
            }
            return texts;
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /** References of business rows whose event is missing. */
    List<String> withoutEvent() {
        return texts("select ref from business where ref not in (select ref from published)");
    }

    /** References of events whose business row is missing. */
    List<String> withoutBusiness() {
        return texts("select ref from published where ref not in (select ref from business)");
    }

    /** References of pairs that were written by different transactions of the database. */
    List<String> apart() {
        return texts("select b.ref from business b join published p using (ref) where b.tx <> p.tx");
    }

    /** Changes of one account whose events are numbered in another order than the row was locked. */
    long inversions(long account) {
        return count(
                "(select p.seq, lag(p.seq) over (order by c.number) as before"
                        + " from account_change c join published p on p.tx = c.tx where c.account = ?) x"
                        + " where before > seq",
                account);
    }

    /** Events in the order in which the handler's effects were written. */
    List<String> effects(String handler) {
        return effects(name, handler);
    }

    /** The same of another application. */
    List<String> effects(String app, String handler) {
        return texts("select event from effect where app = ? and handler = ? order by number", app, handler);
    }
}
