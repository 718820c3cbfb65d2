-- The inbox, version 8: locks by key, see docs/how-to/key-locks.md. Only applications with locks use them.

-- Numbers of grants. All keys share one sequence: a row that was deleted never comes back with a number that was used.
create sequence ${lock_tokens} as bigint;

-- One row for each key that was granted. It is the fence: only the holder whose token is in the row may write.
-- To delete a row refuses its holder and harms nothing else.
create table ${lock} (
  key         text collate "C" primary key check (octet_length(key) between 1 and 1000),
  token       bigint not null check (token > 0),
  lease_until timestamptz not null                                      -- by the database's clock
) with (fillfactor = 70); -- room for the next version of a row on its page

comment on table ${lock} is 'Twinbox: who holds the lock of a key, by the number of the grant';
