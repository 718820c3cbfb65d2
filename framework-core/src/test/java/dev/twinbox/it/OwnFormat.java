package dev.twinbox.it;

import dev.twinbox.Outbox;
import jakarta.ejb.Stateless;

/** Publishes events that only the application's own serializer can write. */
@Stateless
public class OwnFormat {

    @Outbox
    public AccessorEvent publish() {
        return new AccessorEvent();
    }
}
