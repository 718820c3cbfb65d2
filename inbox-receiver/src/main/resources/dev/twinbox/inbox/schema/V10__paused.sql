-- The inbox, version 10: topics and handlers that an operator has paused. See ADR 0041.

-- One row for each topic and each handler that is paused now, for each group of an application. Partitions of a paused
-- topic are held. Events of a paused handler wait in the table of parked events. Applications only read it.
create table ${paused} (
  consumer_group text        collate "C" not null check (consumer_group <> ''),
  what           text        collate "C" not null check (what in ('topic', 'handler')),
  name           text        collate "C" not null check (name <> ''),
  since          timestamptz not null default clock_timestamp(),
  primary key (consumer_group, what, name)
);

comment on table ${paused} is 'Twinbox: topics and handlers that an operator has paused';
