-- Run at each start of the application (persistence.xml), so each statement may meet its own result.

-- Nothing here is unique except our own key: that an event ships once is the inbox's promise, and a second row would show.
create table if not exists shipment (
    id           bigint primary key,
    event_id     text   not null,
    order_id     bigint not null,
    customer_id  bigint not null,
    order_number bigint not null
);

create sequence if not exists shipment_seq increment by 50;
