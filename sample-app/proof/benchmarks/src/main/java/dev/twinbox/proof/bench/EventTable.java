package dev.twinbox.proof.bench;

/** The tables from which events are published: the outbox, and those of the ways that it is compared with. */
enum EventTable {
    /** Made by the relay's {@code migrate}. */
    TWINBOX("outbox_event", "", "id, topic, key, type, source, occurred_at, content_type, payload"),

    /** What a person writes for a poller: a number to order by, and the event. */
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

    /** Creates it; empty where the table is not the benchmark's to create. */
    String ddl() {
        return ddl;
    }

    /** In the order of {@link OutboxBacklog}'s rows, whatever they are called here. */
    String columns() {
        return columns;
    }
}
