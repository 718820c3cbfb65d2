-- ShippingTables runs this at each start, so each statement must be idempotent.
-- One instance at a time: "if not exists" alone fails if another one creates the same table.
select pg_advisory_xact_lock(hashtext('shipping.sql'));

-- Only the primary key is unique: the inbox makes sure that an event is shipped once, and a second row would show.
create table if not exists shipment (
    id           bigint primary key,
    event_id     text   not null,
    order_id     bigint not null,
    customer_id  bigint not null,
    order_number bigint not null
);

-- JPA providers take the values up to the one that they get. So the first one is 50.
create sequence if not exists shipment_seq increment by 50 start with 50;
