package dev.twinbox.sample.bench;

/**
 * One of the two consumers in {@code bench.war}, as its classes name them: it reads a topic of its own with one partition, so
 * that one can be measured while the other idles.
 *
 * @param label in the figures
 * @param topic which it reads; also its consumer group, and the group in the inbox
 */
record ReceiveSide(String label, String topic) {

    /** Name of both sides' handler in the inbox. */
    static final String HANDLER = "effect";
}
