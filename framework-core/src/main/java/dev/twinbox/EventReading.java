package dev.twinbox;

/** How strictly an event is compared with the class that a handler takes, beyond what the format itself demands. */
public enum EventReading {
    /**
     * A primitive needs a value. So an event without that member, or with {@code null} in its place, is unreadable. So is
     * a number that the type of its member cannot hold exactly, and a text that is neither {@code true} nor {@code false}
     * in a {@code boolean}. Unknown members are ignored. An absent reference is {@code null}, an absent {@code Optional}
     * empty.
     */
    STRICT,
    /**
     * The format's reader decides alone. JSON-B leaves an absent primitive at 0 or {@code false}, and cuts a number that
     * is too large.
     */
    LENIENT
}
