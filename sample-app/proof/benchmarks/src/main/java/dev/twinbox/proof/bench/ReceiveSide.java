package dev.twinbox.proof.bench;

import java.util.List;

/**
 * One of the consumers in {@code bench.war}. It reads a topic of its own, so the others idle while it is measured.
 *
 * @param label in the figures
 * @param topic which it reads
 * @param group its consumer group, and the group in the inbox
 * @param handler its name in the inbox
 * @param partitions of its topic
 */
record ReceiveSide(String label, String topic, String group, String handler, int partitions) {

    private static final String APPLICATION = "bench-twinbox";
    private static final int PARTITIONS = ReceiveStage.PARTITIONS;
    /** More than there are workers: one that waits keeps an event of another partition waiting. */
    private static final int MORE_THAN_WORKERS = 8;

    static final ReceiveSide JPA = new ReceiveSide("twinbox, JPA", "bench-jpa", APPLICATION, "jpa", PARTITIONS);
    static final ReceiveSide JDBC = new ReceiveSide("twinbox, JDBC", "bench-jdbc", APPLICATION, "jdbc", PARTITIONS);
    static final ReceiveSide BY_HAND =
            new ReceiveSide("by hand, JDBC", "bench-by-hand", "bench-by-hand", "by hand", PARTITIONS);

    /** The sides that write the same effect. */
    static final List<ReceiveSide> COMPARED = List.of(JPA, JDBC, BY_HAND);

    /** The side that fails for chosen keys. */
    static final ReceiveSide FAILING_KEY =
            new ReceiveSide("twinbox, failing key", "bench-slow-key", APPLICATION, "slow-key", PARTITIONS);

    /** The sides whose handlers take a while. */
    static final ReceiveSide UNGUARDED =
            new ReceiveSide("no guard", "bench-unguarded", APPLICATION, "unguarded", MORE_THAN_WORKERS);

    static final ReceiveSide GUARDED =
            new ReceiveSide("guard", "bench-guarded", APPLICATION, "guarded", MORE_THAN_WORKERS);

    /** Without their topics the consumers would log errors while another one is measured. */
    static final List<ReceiveSide> ALL = List.of(JPA, JDBC, BY_HAND, FAILING_KEY, UNGUARDED, GUARDED);
}
