-- The outbox, version 4: what exactly-once publication has to remember. See ADR 0018.

-- Each saved row can hold, beside the position that counts, the one that counts if Kafka's transaction of this row's number
-- is committed. Kafka decides which; this table only knows both before it does. The newest row is always enough.
alter table ${position}
  add column committed bigint,       -- the number that Kafka has if the row's own position counts; null: Kafka was not asked
  add column next_from pg_snapshot,  -- the position that counts if Kafka has the row's number; null: the row's own counts
  add column next_to   pg_snapshot,
  add column next_seq  bigint,
  add constraint next_complete check (
    (next_to is null) = (next_seq is null) and (next_from is not null or next_to is null));

-- Null: this relay publishes at least once. Otherwise exactly once, for good, and this is how it knows its own offsets in
-- Kafka from those of another outbox.
alter table ${lease} add column exactly_once uuid;

-- undecided: set aside in a Kafka transaction of which nobody knows yet whether it is committed
alter table ${parked}
  add column decided_state text,  -- what the state becomes if it is; if not the row is removed and the event read again
  add column sent_as bigint,      -- number of the Kafka transaction in which the row was last sent
  drop constraint state_known,
  add constraint state_known check (
    state in ('refused', 'waiting', 'behind', 'ready', 'sending', 'discarded', 'undecided')),
  add constraint decision_known check ((state = 'undecided') = (decided_state is not null));

create index on ${parked} (relay, number) where state = 'undecided';
