-- The application runs this at each start (persistence.xml), so each statement must be idempotent.

-- All consumers write here. Only the primary key is unique: a second effect must show.
create table if not exists effect (
    id          bigint  primary key,
    order_id    bigint  not null,
    customer_id bigint  not null,
    total       numeric not null
);

-- In steps of 50 for Hibernate's pooled optimizer.
create sequence if not exists effect_seq increment by 50;

-- Effects of the slow-key benchmark, in the order in which they were applied.
create table if not exists applied_order (
    number      bigint      generated always as identity primary key,
    order_id    bigint      not null,
    customer_id bigint      not null,
    applied_at  timestamptz not null default clock_timestamp()
);

create table if not exists blocked_customer (
    id bigint primary key
);

-- The tables of the write benchmark.
create table if not exists buyer (
    id       bigint  primary key,
    turnover numeric not null default 0
);

insert into buyer (id) select generate_series(0, 999) on conflict do nothing;

create table if not exists stored_order (
    id       bigint  primary key,
    buyer_id bigint  not null references buyer,
    total    numeric not null,
    note     text    not null
);

create sequence if not exists stored_order_seq increment by 50;

-- What the locks benchmark compares with locks.
create table if not exists payment (number bigint primary key);

create table if not exists task (id bigint generated always as identity primary key, buyer_id bigint not null);
