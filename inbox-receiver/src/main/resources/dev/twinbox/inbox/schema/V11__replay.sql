-- The inbox, version 11: events of a topic that are handled again. See ADR 0042.

-- One row for each job. An operator asks for it. One instance of the application leases it and carries it out.
-- At most one job of a handler and a topic is not over.
create table ${replay} (
  number         bigint      not null primary key generated always as identity,
  consumer_group text        collate "C" not null check (consumer_group <> ''),
  handler        text        collate "C" not null check (handler <> ''),
  topic          text        collate "C" not null check (topic <> ''),
  topic_id       uuid        not null,        -- a topic that is created anew has another one
  record_key     text,                        -- only records with this key, in UTF-8; null: all
  again          boolean     not null,        -- also what the inbox knows
  asked_from     text        not null,        -- as the operator wrote them
  asked_to       text        not null,
  -- One element for each partition: which offsets, the end not included, and the next one.
  partitions     int[]       not null,
  from_offsets   bigint[]    not null,
  to_offsets     bigint[]    not null,
  next_offsets   bigint[]    not null,
  -- requested: no instance has begun
  -- running:   an instance has it until lease_until, or the next one takes it
  -- finished, failed, canceled: over
  state          text        not null default 'requested',
  owner          uuid,
  lease_until    timestamptz,                 -- by the database's clock
  handled        bigint      not null default 0,
  skipped        bigint      not null default 0,  -- known or parked already
  parked         bigint      not null default 0,  -- failed, or after one of their key that failed
  unreadable     bigint      not null default 0,
  gone           bigint      not null default 0,  -- offsets that the topic's retention has removed
  error          text        check (octet_length(error) <= 8192),
  requested_at   timestamptz not null default clock_timestamp(),
  ended_at       timestamptz,
  constraint state_known check (state in ('requested', 'running', 'finished', 'failed', 'canceled')),
  constraint owner_leases check ((owner is null) = (lease_until is null)),
  constraint ended check ((ended_at is null) = (state in ('requested', 'running'))),
  constraint partitions_complete check (cardinality(partitions) = cardinality(from_offsets)
    and cardinality(partitions) = cardinality(to_offsets) and cardinality(partitions) = cardinality(next_offsets))
);

-- What is to be done? And no second job beside it.
create unique index on ${replay} (consumer_group, handler, topic) where state in ('requested', 'running');

comment on table ${replay} is 'Twinbox: jobs that handle events of a topic again';

-- The claims of jobs that handle what the inbox knows. A row is written in the transaction of the effect, as an inbox
-- row is. So a job has one effect more for each event. Rows are deleted an hour after the end of their job.
create table ${replayed} (
  job          bigint not null,
  event_id     text   collate "C" not null check (octet_length(event_id) between 1 and 512),
  event_source bigint not null,
  primary key (job, event_id, event_source)
);

comment on table ${replayed} is 'Twinbox: events that jobs have handled again';
