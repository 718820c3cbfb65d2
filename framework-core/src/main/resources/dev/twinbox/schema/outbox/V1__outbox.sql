-- The outbox, version 1. Names are placeholders that hold quoted identifiers; see OutboxSchema.

-- Order of writing. Drawn just before the transaction commits, while it holds the row locks of what it changed; cache 1,
-- or sessions would draw from blocks of their own and the numbers would say nothing about order.
create sequence ${events_sequence} as bigint cache 1;

-- Append-only: nobody updates or deletes a row. A relay keeps a position; a slot whose rows are all sent is truncated as
-- a whole, so nothing has to be vacuumed. There is no primary key: it would have to contain the slot and would guard
-- nothing; ids are UUIDs.
create table ${events} (
  -- Who wrote the row; the relay compares it with snapshots to know what has committed.
  tx           xid8        not null default pg_current_xact_id(),
  seq          bigint      not null default nextval(${events_sequence_literal}),
  -- The slot of the transaction's start time; three of them take turns.
  slot         smallint    not null default ((extract(epoch from now())::bigint / ${slot_seconds}) % 3)::smallint,
  -- The CloudEvents attributes and the Kafka record.
  id           uuid        not null,
  topic        text        not null,
  key          text,
  type         text        not null,
  source       text        not null,
  subject      text,
  occurred_at  timestamptz not null,
  content_type text        not null,
  headers      text[],     -- name, value, name, value, …; null: none
  payload      bytea,      -- null: a tombstone
  -- Kafka's rule for topic names.
  constraint topic_legal check (
    length(topic) between 1 and 249 and topic !~ '[^a-zA-Z0-9._-]' and topic <> '.' and topic <> '..'),
  constraint attributes_not_empty check (
    key <> '' and type <> '' and source <> '' and subject <> '' and content_type <> ''),
  constraint headers_in_pairs check (
    cardinality(headers) % 2 = 0 and array_position(headers, null) is null)
) partition by list (slot);

alter sequence ${events_sequence} owned by ${events}.seq;

create table ${events_slot0} partition of ${events} for values in (0);
create table ${events_slot1} partition of ${events} for values in (1);
create table ${events_slot2} partition of ${events} for values in (2);

-- One for each branch of the relay's window: what has begun since a snapshot, and what was in progress in it.
create index ${events_seq_index} on ${events} (seq);
create index ${events_tx_index} on ${events} (tx, seq);

-- How far each relay is. Appended, never updated: under a held xmin horizon an updated row gets slower with every save.
-- The newest row (highest number) counts; two slots take turns being truncated.
create table ${position} (
  slot        smallint    not null,
  relay       text        not null,
  number      bigint      not null,  -- counts the saves of a relay
  epoch       bigint      not null,  -- of the lease under which it was saved
  window_from pg_snapshot not null,  -- what is visible in it has been sent
  window_to   pg_snapshot,           -- null: no window is open
  seq         bigint,                -- in the open window, sent up to here
  saved_at    timestamptz not null default clock_timestamp(),
  constraint number_positive check (number > 0),
  constraint window_complete check ((window_to is null) = (seq is null))
) partition by list (slot);

create table ${position_slot0} partition of ${position} for values in (0);
create table ${position_slot1} partition of ${position} for values in (1);

create index ${position_index} on ${position} (relay, number desc);

-- Who may move the position: one row per relay, its owner a random id per process.
create table ${lease} (
  relay             text        not null primary key,
  owner             uuid,        -- null: nobody
  epoch             bigint      not null,  -- grows with each change of owner
  ends_at           timestamptz not null,  -- by the database's clock
  system_identifier bigint      not null,  -- of the cluster in which the snapshots mean something
  constraint epoch_positive check (epoch > 0)
);
