-- The outbox, version 3: events that are to be sent at a time of their own, and a relay that is told to pause.

-- Written by applications like the event table, in their transactions; when it is time the relay moves the row into the event
-- table, in one statement, and there it is an event like all others.
create table ${scheduled} (
  number       bigint      not null primary key generated always as identity,  -- the order of those of one time
  tx           xid8        not null default pg_current_xact_id(),
  deliver_at   timestamptz not null,
  id           uuid        not null,
  topic        text        not null,
  key          text,
  type         text        not null,
  source       text        not null,
  subject      text,
  occurred_at  timestamptz not null,
  content_type text        not null,
  headers      text[],
  payload      bytea,
  constraint topic_legal check (
    length(topic) between 1 and 249 and topic !~ '[^a-zA-Z0-9._-]' and topic <> '.' and topic <> '..'),
  constraint attributes_not_empty check (
    key <> '' and type <> '' and source <> '' and subject <> '' and content_type <> ''),
  constraint headers_in_pairs check (
    cardinality(headers) % 2 = 0 and array_position(headers, null) is null)
);

-- What has become due since the relay last looked, and what has been committed since then. It never looks at what is before
-- both, where the remains of moved rows lie as long as something holds back vacuum.
create index on ${scheduled} (deliver_at, number);
create index on ${scheduled} (tx, deliver_at);

-- Since when the relay is to send nothing; null: it sends.
alter table ${lease} add column paused_at timestamptz;
