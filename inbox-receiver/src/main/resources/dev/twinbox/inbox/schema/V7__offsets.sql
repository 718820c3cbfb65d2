-- How far each group was, one row for each partition that it reads. Kafka forgets the offsets of a group that was away for some
-- days; the inbox must not. Written once a minute and at each stop, read only if Kafka has no offset.
--
-- The topic's id is in the key, because a topic that was deleted and created anew starts at its beginning under the same name.
create table ${offset} (
  consumer_group text collate "C" not null check (consumer_group <> ''),
  topic_id       uuid not null,
  partition      int not null check (partition >= 0),
  topic          text collate "C" not null check (topic <> ''),
  next_offset    bigint not null check (next_offset >= 0),          -- offset of the first record that is not settled
  saved_at       timestamptz,                                       -- null: chosen by the group's first member, not read yet
  primary key (consumer_group, topic_id, partition)
);

-- Whether the group remembers anything of a topic.
create index on ${offset} (consumer_group, topic);

comment on table ${offset} is 'Twinbox: how far each consumer group was, by topic id and partition';
