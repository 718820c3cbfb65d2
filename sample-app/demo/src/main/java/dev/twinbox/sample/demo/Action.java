package dev.twinbox.sample.demo;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** An action of a button on the page. */
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

    /** All labels, for a message. */
    static String labels() {
        return Arrays.stream(values()).map(Action::label).collect(Collectors.joining(", "));
    }

    static Optional<Action> labelled(String label) {
        return Arrays.stream(values())
                .filter(action -> action.label().equals(label))
                .findFirst();
    }
}
