package dev.twinbox.it;

import dev.twinbox.EventType;

/** Written like a record, but it is a class: JSON-B sees no property. */
@EventType(value = "accessors", topic = "wrong", key = "orderId")
public class AccessorEvent {

    private final long orderId = 1;

    public long orderId() {
        return orderId;
    }
}
