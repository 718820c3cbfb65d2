package dev.twinbox.sample.demo;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** What the page's buttons do. */
enum Action {
    PLACE_ONE,
    PLACE_THOUSAND,
    ROLL_BACK,
    KILL_RELAY,
    KILL_RECEIVER,
    RESTART_KAFKA,
    SEND_DUPLICATES;

    /** The name in the page and its addresses, e.g. {@code place-one}. */
    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static Optional<Action> labelled(String label) {
        return Arrays.stream(values())
                .filter(action -> action.label().equals(label))
                .findFirst();
    }
}
