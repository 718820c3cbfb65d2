-- The outbox, version 9: what operators have changed.

-- One row for each change by the command line or the API, written in the transaction of the change. The relay removes
-- rows after 30 days.
create table ${actions} (
  number    bigint      not null primary key generated always as identity,
  relay     text collate "C" not null,
  at        timestamptz not null default clock_timestamp(),
  -- The name of the token; or the database user and, in brackets, the user of the operating system.
  who       text        not null,
  via       text        not null,  -- http or command-line
  action    text        not null,  -- retry, discard, pause, resume
  selection text,    -- which parked events were selected; null: the relay as a whole
  events    bigint,  -- how many of them were changed
  constraint who_told check (who <> '' and via <> '' and action <> ''),
  constraint events_selected check ((selection is null) = (events is null))
);

-- What is old enough to be removed?
create index on ${actions} (relay, at);
