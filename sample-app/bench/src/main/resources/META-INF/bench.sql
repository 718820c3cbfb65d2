-- Run at each start of the application (persistence.xml), so each statement may meet its own result.

-- Both consumers write here. Nothing but the key is unique: an effect that happens twice must show.
create table if not exists effect (
    id          bigint  primary key,
    order_id    bigint  not null,
    customer_id bigint  not null,
    total       numeric not null
);

-- In steps of 50 for Hibernate's pooled optimizer.
create sequence if not exists effect_seq increment by 50;
