-- The outbox, version 10: topics that an operator has paused. See ADR 0037.

-- One row for each topic that is paused now, for each relay. The topic's events wait in the table of parked events. Their
-- partition is -2 there, which means: for the end of the pause.
create table ${paused} (
  relay text collate "C" not null,
  topic text collate "C" not null,
  since timestamptz not null default clock_timestamp(),
  primary key (relay, topic),
  constraint topic_legal check (
    length(topic) between 1 and 249 and topic !~ '[^a-zA-Z0-9._-]' and topic <> '.' and topic <> '..')
);

-- A change of a topic has a selection, the topic, and changes no events by itself.
alter table ${actions}
  drop constraint events_selected,
  add constraint events_selected check (selection is not null or events is null);
