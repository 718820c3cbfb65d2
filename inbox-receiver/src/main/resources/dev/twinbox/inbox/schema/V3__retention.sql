-- Retention walks along this index, in order of handling, from where it got to last time. Rows come in at its right edge.
create index on ${inbox} (consumer_group, handled_at);

-- How far retention got, one row for each group. Locked by the instance whose turn it is, for one short transaction; written
-- once a second at most, so that versions of it do not pile up while somebody's long transaction holds back vacuum.
create table ${retention} (
  consumer_group text collate "C" primary key check (consumer_group <> ''),
  done_to        timestamptz not null,                              -- rows handled before this time have been looked at
  swept_at       timestamptz not null default clock_timestamp()     -- when it last began at the oldest row
);

comment on table ${retention} is 'Twinbox: how far the deletion of old inbox rows got, by consumer group';
