package dev.twinbox.relay;

/** A value that must never be read in a log, an exception or a status page: it prints as stars. */
record Secret(String value) {
    static final String MASK = "********";

    @Override
    public String toString() {
        return MASK;
    }
}
