-- One row for each event that a handler has had its effect of, written in the transaction of the effect. The primary key is
-- what makes the effect happen once: whoever inserts the row may handle, everyone else has a duplicate.
--
-- collate "C": ids are compared as bytes, which is faster than by a language's rules and the same in every database. Ids that
-- grow with time (UUIDv7) keep the index hot at its right edge.
create table ${inbox} (
  consumer_group text collate "C" not null check (consumer_group <> ''),
  handler        text collate "C" not null check (handler <> ''),
  event_id       text collate "C" not null check (octet_length(event_id) between 1 and 512),
  handled_at     timestamptz not null default clock_timestamp(),
  primary key (consumer_group, handler, event_id)
);

comment on table ${inbox} is 'Twinbox: events whose effect has happened, by consumer group and handler';
