-- OrdersTables runs this at each start, so each statement must be idempotent.
-- One instance at a time: "if not exists" alone fails if another one creates the same table.
select pg_advisory_xact_lock(hashtext('orders.sql'));

create table if not exists customer (
    id          bigint primary key,
    order_count bigint not null default 0 check (order_count >= 0)
);

insert into customer (id) select generate_series(1, 1000) on conflict do nothing;

create table if not exists purchase_order (
    id          bigint primary key,
    customer_id bigint not null references customer,
    number      bigint not null check (number > 0),
    product     text   not null,
    quantity    int    not null check (quantity > 0),
    unique (customer_id, number)
);

-- JPA providers take the values up to the one that they get. So the first one is 50.
create sequence if not exists purchase_order_seq increment by 50 start with 50;
