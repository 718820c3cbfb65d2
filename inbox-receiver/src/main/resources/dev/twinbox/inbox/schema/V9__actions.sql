-- The inbox, version 9: what operators have changed.

-- One row for each change by the command line or the console, written in the transaction of the change. Applications
-- neither read nor write it. Each change removes rows that are older than 30 days.
create table ${actions} (
  number    bigint      not null primary key generated always as identity,
  at        timestamptz not null default clock_timestamp(),
  -- The name of the token; or the database user and, in brackets, the user of the operating system.
  who       text        not null,
  via       text        not null,  -- http or command-line
  action    text        not null,  -- retry, discard, hand-over, retire, forget
  selection text,                  -- what was selected
  events    bigint,                -- how many events, handlers or inbox rows were changed
  constraint who_told check (who <> '' and via <> '' and action <> ''),
  constraint events_selected check ((selection is null) = (events is null))
);

-- What is old enough to be removed?
create index on ${actions} (at);

comment on table ${actions} is 'Twinbox: what operators have changed, for 30 days';
