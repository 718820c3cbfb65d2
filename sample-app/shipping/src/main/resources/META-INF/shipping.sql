-- The application runs this at each start (persistence.xml), so each statement must be idempotent.

-- Only the primary key is unique: the inbox makes sure that an event is shipped once, and a second row would show.
create table if not exists shipment (
    id           bigint primary key,
    event_id     text   not null,
    order_id     bigint not null,
    customer_id  bigint not null,
    order_number bigint not null
);

create sequence if not exists shipment_seq increment by 50;
