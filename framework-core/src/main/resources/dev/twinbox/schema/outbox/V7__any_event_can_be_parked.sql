-- The outbox, version 7: the table of parked events takes any event, and the event tables refuse what the library refuses.

-- Is this key blocked, and which is the next of this key? A key can be longer than an entry of an index. So the index holds
-- a hash of topic and key, and statements compare topic and key as well. Two backslashes for each one keep the cast from
-- text to bytes literal. The limits keep the hash of a huge key cheap.
do $do$
declare
  by_key regclass;
begin
  for by_key in
    select indexrelid from pg_index
     where indrelid = ${parked_literal}::regclass
       and pg_get_indexdef(indexrelid) like '%(relay, topic, key, number)'
  loop
    execute 'drop index ' || by_key;
  end loop;
end
$do$;

create index on ${parked} (
  relay,
  sha256(replace(left(topic, 1000) || '/' || left(key, 1000000), chr(92), chr(92) || chr(92))::bytea),
  number) where key is not null;

-- A change of the event tables needs a lock that keeps writers out. While a long transaction holds it off, the wait for it
-- would keep them out, too. So the wait is short, and repeated.
do $do$
begin
  for attempt in 1 .. 300 loop
    begin
      perform set_config('lock_timeout', '200ms', true);
      lock table ${events}, ${scheduled} in access exclusive mode;
      exit;
    exception when lock_not_available then
      if attempt = 300 then
        raise;
      end if;
    end;
    perform pg_sleep(0.1);
  end loop;
end
$do$;

-- Not valid: rows that are there stay, and are parked if they cannot be sent.
alter table ${events}
  add constraint type_limited check (octet_length(type) <= 512) not valid,
  add constraint attributes_limited check (
    octet_length(topic) + coalesce(octet_length(key), 0) + octet_length(type) + octet_length(source)
      + coalesce(octet_length(subject), 0) + octet_length(content_type)
      + coalesce(octet_length(array_to_string(headers, '')), 0) <= 65536) not valid,
  add constraint payload_limited check (octet_length(payload) <= 100000000) not valid,
  -- type/subtype and parameters, in printable ASCII
  add constraint content_type_legal check (
    content_type ~ '^ *[!-.0-:<-~]+/[!-:<-~]+ *(;[ -~]*)?$') not valid;

alter table ${scheduled}
  add constraint type_limited check (octet_length(type) <= 512) not valid,
  add constraint attributes_limited check (
    octet_length(topic) + coalesce(octet_length(key), 0) + octet_length(type) + octet_length(source)
      + coalesce(octet_length(subject), 0) + octet_length(content_type)
      + coalesce(octet_length(array_to_string(headers, '')), 0) <= 65536) not valid,
  add constraint payload_limited check (octet_length(payload) <= 100000000) not valid,
  add constraint content_type_legal check (
    content_type ~ '^ *[!-.0-:<-~]+/[!-:<-~]+ *(;[ -~]*)?$') not valid,
  add constraint deliver_at_limited check (
    deliver_at between '0001-01-01 00:00:00+00' and '9999-12-31 23:59:59+00') not valid;
