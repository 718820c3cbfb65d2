-- The outbox, version 2: events that could not be sent, and whose outbox a lease is for.

-- What a relay has set aside: written in the transaction that moves its position behind the event, so that an event is
-- either before the position, or in here, or sent. Within one topic and key the numbers are the order in which the
-- events have to arrive. The first row of a key tells how the key stands; the rows behind it wait for it.
create table ${parked} (
  relay        text collate "C" not null,
  number       bigint      not null generated always as identity,
  -- refused:   Kafka will not take it as it is; a person retries or discards it
  -- waiting:   its topic is missing or its partition stands still; the relay tries again by itself
  -- behind:    an earlier event of its topic and key is in here
  -- ready:     to be sent at once
  -- sending:   handed to Kafka, or its relay died while it was
  -- discarded: a person gave it up; the relay takes it out
  state        text        not null,
  -- While waiting: for this partition, which stands still; -1: for the topic, which does not exist.
  partition    int         not null default -1,
  error        text,
  attempts     int         not null default 0,  -- refusals; transient faults do not count
  since        timestamptz not null default clock_timestamp(),  -- set aside, or given back to the relay by a person
  -- The event, as it was in the outbox. What a broken row lacks there, it lacks here.
  seq          bigint      not null,
  id           uuid,
  topic        text collate "C" not null,
  key          text collate "C",
  type         text,
  source       text,
  subject      text,
  occurred_at  timestamptz,
  content_type text,
  headers      text[],
  payload      bytea,
  primary key (relay, number),
  constraint state_known check (state in ('refused', 'waiting', 'behind', 'ready', 'sending', 'discarded')),
  constraint behind_a_key check (state <> 'behind' or key is not null),
  constraint error_told check (error is not null or state not in ('refused', 'waiting'))
);

-- Is this key blocked, and which is the next of this key?
create index on ${parked} (relay, topic, key, number);
-- What the relay looks for again and again holds no entry for what only waits for a person or behind another.
create index on ${parked} (relay, number) where state in ('ready', 'sending', 'discarded');
create index on ${parked} (relay, topic, partition, number) where state = 'waiting';

-- Whose position this is: a relay that is pointed at another event table must not go on from it.
alter table ${lease} add column events text;
