package dev.twinbox.proof.bench;

import java.util.List;

/**
 * One of the consumers in {@code bench.war}. It reads a topic of its own, so the others idle while it is measured.
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

    /** The sides that write the same effect. */
    static final List<ReceiveSide> COMPARED = List.of(JPA, JDBC, BY_HAND);

    /** The side that fails for chosen keys. */
    static final ReceiveSide FAILING_KEY =
            new ReceiveSide("twinbox, failing key", "bench-slow-key", APPLICATION, "slow-key");

    /** The sides whose handlers take a while. */
    static final ReceiveSide UNGUARDED = new ReceiveSide("no guard", "bench-unguarded", APPLICATION, "unguarded");

    static final ReceiveSide GUARDED = new ReceiveSide("guard", "bench-guarded", APPLICATION, "guarded");

    /** Without their topics the consumers would log errors while another one is measured. */
    static List<String> topics() {
        return List.of(JPA.topic, JDBC.topic, BY_HAND.topic, FAILING_KEY.topic, UNGUARDED.topic, GUARDED.topic);
    }
}
