-- Which handlers the instances of an application have. An instance writes its rows before it joins the group, and again and
-- again while it runs. Another instance of another version reads them when it meets a type that it does not know.
--
-- A row stays when no instance has the handler any more: until somebody retires it by the command line, or until its last
-- sight is longer ago than the inbox keeps its rows.
create table ${handlers} (
  consumer_group text collate "C" not null check (consumer_group <> ''),
  topic          text collate "C" not null check (topic <> ''),
  event_type     text collate "C" not null check (event_type <> ''), -- current and former names
  handler        text collate "C" not null check (handler <> ''),
  delivery       text collate "C" not null
    check (delivery in ('exactly_once_effect', 'at_least_once', 'at_most_once')),
  announced_at   timestamptz not null default clock_timestamp(),
  seen_at        timestamptz not null default clock_timestamp(),
  primary key (consumer_group, topic, event_type, handler)
);

comment on table ${handlers} is 'Twinbox: the handlers that instances have announced, by group, topic and type';

-- A CloudEvent is identified by its source and its id. The first 64 bits of the source's SHA-256; 0: no source, which matches
-- every source. The primary key gets it by a step of its own, migrate --finish: until then instances of the previous version,
-- which write no source, and those of this version must not both claim an event.
alter table ${inbox} add column event_source bigint not null default 0;
alter table ${parked} add column event_source bigint not null default 0;
