-- The index of the retention gets a condition that a claim does not state. While the planner knows nothing of a table, or knew it
-- small, one index that begins with consumer_group is as good as another to it, and a claim along this one reads all that the
-- group has handled.
do $do$
declare
  without_condition regclass;
begin
  for without_condition in
    select indexrelid from pg_index
     where indrelid = ${inbox_literal}::regclass
       and pg_get_indexdef(indexrelid) like '%(consumer_group, handled_at)'
  loop
    execute 'drop index ' || without_condition;
  end loop;
end
$do$;

create index on ${inbox} (consumer_group, handled_at) where handled_at > '-infinity';
