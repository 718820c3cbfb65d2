package dev.twinbox.outbox;

/**
 * The result of the {@link SelfTest}.
 *
 * @param reason one clause, for the log and for readiness
 */
record ChosenWay(WriteWay way, String reason) {

    @Override
    public String toString() {
        return way + ", because " + reason;
    }
}
