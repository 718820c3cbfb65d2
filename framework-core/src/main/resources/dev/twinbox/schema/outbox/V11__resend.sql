-- The outbox, version 11: events that are sent again. See ADR 0040.

-- One row for each job. An operator asks for it, the owner of the lease carries it out. At most one job of a relay is not
-- over. The progress is saved once a second at most.
create table ${resend} (
  number      bigint      not null primary key generated always as identity,
  relay       text collate "C" not null,
  -- requested: nothing is sent yet
  -- running:   sent up to after_seq
  -- finished, failed, canceled: over
  state       text        not null default 'requested',
  -- Which events: from the first limit up to, and without, the second one. Null: no limit.
  from_seq    bigint,
  to_seq      bigint,
  from_time   timestamptz,
  to_time     timestamptz,
  topic       text collate "C",
  key         text collate "C",
  -- Compacted topics. Until the job is over, their other events are set aside.
  held        text[]      not null default '{}',
  -- The relay's position when the job began: what it has passed was sent, and is sent again.
  sent_from   pg_snapshot,
  sent_to     pg_snapshot,
  sent_seq    bigint,
  after_seq   bigint,           -- all rows up to here are done
  epoch       bigint,           -- of the lease under which the job went on last
  sent        bigint      not null default 0,
  parked      bigint      not null default 0,  -- left out, because they wait in the table of parked events
  refused     bigint      not null default 0,  -- left out, because Kafka does not take them
  error       text,             -- why it has failed, or the first refusal
  requested_at timestamptz not null default clock_timestamp(),
  ended_at    timestamptz,
  constraint state_known check (state in ('requested', 'running', 'finished', 'failed', 'canceled')),
  constraint running_from check (state <> 'running' or (sent_from is not null and after_seq is not null)),
  constraint sent_complete check ((sent_to is null) = (sent_seq is null)),
  constraint ended check ((ended_at is null) = (state in ('requested', 'running')))
);

-- What is to be done? And no second job beside it.
create unique index on ${resend} (relay) where state in ('requested', 'running');

-- The highest number in a slot that this relay has emptied. Slots need not be emptied in the order of their numbers. So
-- up to here some events are left and others are not. Null: none was emptied since this version.
alter table ${lease} add column if not exists emptied_seq bigint;
