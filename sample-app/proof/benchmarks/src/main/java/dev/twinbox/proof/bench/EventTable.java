package dev.twinbox.proof.bench;

/** The tables from which events are published: the outbox, and those of the other sides. */
enum EventTable {
    /** Created by the relay's {@code migrate}. */
    TWINBOX("outbox_event", "", "id, topic, key, type, source, occurred_at, content_type, payload"),

    /** A table for a poller, written by hand: a number for the order, and the event. */
    SKIP_LOCKED("skip_locked_outbox", """
            create table skip_locked_outbox (
              number       bigint      primary key generated always as identity,
              id           uuid        not null,
              topic        text        not null,
              key          text,
              type         text        not null,
              source       text        not null,
              occurred_at  timestamptz not null,
              content_type text        not null,
              payload      bytea
            )""", "id, topic, key, type, source, occurred_at, content_type, payload"),

    /** The columns of Debezium's outbox event router, and the rest of the event. */
    DEBEZIUM(
            "debezium_outbox", """
            create table debezium_outbox (
              id            uuid        primary key,
              aggregatetype text        not null,
              aggregateid   text        not null,
              type          text        not null,
              source        text        not null,
              occurred_at   text        not null,
              content_type  text        not null,
              payload       bytea       not null
            )""", "id, aggregatetype, aggregateid, type, source, occurred_at, content_type, payload");

    private final String table;
    private final String ddl;
    private final String columns;

    EventTable(String table, String ddl, String columns) {
        this.table = table;
        this.ddl = ddl;
        this.columns = columns;
    }

    String table() {
        return table;
    }

    /** The statement that creates it; empty if something else creates the table. */
    String ddl() {
        return ddl;
    }

    /** The columns in the order of {@link OutboxBacklog}, under the names of this table. */
    String columns() {
        return columns;
    }
}
