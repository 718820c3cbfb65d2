-- The outbox, version 6: where a relay begins to read when it opens a window.

-- Each snapshot of a position can have a floor: rows of transactions at or after its xmax have a greater seq. So the relay
-- finds them without reading all that is unsent. See ADR 0032. Null: not known, and the relay looks for it once.
alter table ${position}
  add column from_floor      bigint,
  add column to_floor        bigint,
  add column next_from_floor bigint,
  add column next_to_floor   bigint;
