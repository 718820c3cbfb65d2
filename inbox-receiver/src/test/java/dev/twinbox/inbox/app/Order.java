package dev.twinbox.inbox.app;

import jakarta.json.bind.annotation.JsonbCreator;
import jakarta.json.bind.annotation.JsonbProperty;

/**
 * The event of the tests. It says what the handler does. The record needs the annotations, because the JSON-B of Payara
 * 6 does not know records: its classes for newer Java are not visible there.
 *
 * @param id the same as the event's id
 * @param action what the handler does, see {@link Script}
 * @param times to how many calls the action applies, from the first on
 */
public record Order(String id, String action, int times) {

    @JsonbCreator
    public Order(
            @JsonbProperty("id") String id, @JsonbProperty("action") String action, @JsonbProperty("times") int times) {
        this.id = id;
        this.action = action;
        this.times = times;
    }
}
