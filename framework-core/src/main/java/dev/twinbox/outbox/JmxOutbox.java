package dev.twinbox.outbox;

/** {@link OutboxMXBean} of one application. */
record JmxOutbox(Opening opening) implements OutboxMXBean {

    @Override
    public boolean isReady() {
        return opening.chosen() != null;
    }

    @Override
    public String getTrouble() {
        return opening.chosen() == null ? opening.trouble() : "";
    }

    @Override
    public String getWrites() {
        ChosenWay chosen = opening.chosen();
        return chosen == null ? "" : chosen.toString();
    }
}
