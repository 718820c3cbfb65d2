package dev.twinbox.proof.bench;

import java.util.List;

/**
 * One of the consumers in {@code bench.war}, as its classes name them: it reads a topic of its own, so that one can be measured
 * while the others idle.
 *
 * @param label in the figures
 * @param topic which it reads
 * @param group its consumer group, and the group in the inbox
 * @param handler its name in the inbox
 */
record ReceiveSide(String label, String topic, String group, String handler) {

    private static final String APPLICATION = "bench-twinbox";

    static final ReceiveSide JPA = new ReceiveSide("twinbox, JPA", "bench-jpa", APPLICATION, "jpa");
    static final ReceiveSide JDBC = new ReceiveSide("twinbox, JDBC", "bench-jdbc", APPLICATION, "jdbc");
    static final ReceiveSide BY_HAND = new ReceiveSide("by hand, JDBC", "bench-by-hand", "bench-by-hand", "by hand");

    /** Those that write the same effect. */
    static final List<ReceiveSide> COMPARED = List.of(JPA, JDBC, BY_HAND);

    /** Fails for chosen keys. */
    static final ReceiveSide FAILING_KEY =
            new ReceiveSide("twinbox, failing key", "bench-slow-key", APPLICATION, "slow-key");

    /** Without their topics the consumers would complain while something else is measured. */
    static List<String> topics() {
        return List.of(JPA.topic, JDBC.topic, BY_HAND.topic, FAILING_KEY.topic);
    }
}
