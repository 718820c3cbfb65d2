-- Events that a handler could not handle, and those that have to wait behind them. A row holds all that the record had, so
-- that it can be handled without Kafka, and it is the event's claim as long as it is here: whoever meets the event again on
-- its topic leaves it alone.
--
-- state
--   begun   given to its handler by a receiver that starts after a crash; says how often that was begun and not ended
--   retry   the first of its key, or without a key: tried again at next_try_at
--   behind  waits for the events of its key before it
--   dead    given up; its key waits until a person sends it again or discards it
--   passed  given up; its key goes on without it
create table ${parked} (
  number         bigint generated always as identity primary key,
  consumer_group text collate "C" not null check (consumer_group <> ''),
  handler        text collate "C" check (handler <> ''),            -- null: nobody's, the record can not be read at all
  event_id       text collate "C" check (octet_length(event_id) between 1 and 512),
  event_type     text,
  claims         boolean not null,                                  -- whether the effect is guarded by an inbox row
  state          text collate "C" not null check (state in ('begun', 'retry', 'behind', 'dead', 'passed')),
  topic          text collate "C" not null,
  partition      int not null,
  record_offset  bigint not null,
  record_time    timestamptz,
  record_key     bytea,                                             -- null: no order
  key_hash       bytea generated always as (sha256(record_key)) stored, -- an index can not hold a key of any length
  record_value   bytea,
  header_names   bytea[] not null,
  header_values  bytea[] not null,
  attempts       int not null check (attempts >= 0),
  error          text check (octet_length(error) <= 8192),
  parked_at      timestamptz not null default clock_timestamp(),
  failed_at      timestamptz,
  next_try_at    timestamptz,
  check ((state = 'retry') = (next_try_at is not null)),
  check (handler is null or event_id is not null),
  check (state <> 'behind' or record_key is not null),
  check (cardinality(header_names) = cardinality(header_values))
);

create unique index on ${parked} (consumer_group, handler, event_id) where handler is not null;
create unique index on ${parked} (consumer_group, topic, partition, record_offset) where handler is null;

-- Whether a key has to wait, and who is first of it.
create index on ${parked} (consumer_group, handler, topic, key_hash, number)
  where key_hash is not null and state in ('retry', 'behind', 'dead');

-- What is due.
create index on ${parked} (consumer_group, next_try_at) where state = 'retry';

comment on table ${parked} is 'Twinbox: events that could not be handled, and those that wait behind them';
