package dev.twinbox.console;

/** What somebody may do. Each role may do what those before it may. */
public enum Role {
    /** Anybody: may log in. */
    STRANGER,
    /** Without a token, on the same host: sees everything but payloads. */
    VISITOR,
    /** With the reader's token: sees payloads as well. */
    READER,
    /** With the operator's token: changes, too. */
    OPERATOR;

    boolean includes(Role needed) {
        return compareTo(needed) >= 0;
    }
}
