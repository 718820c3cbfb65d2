package dev.twinbox.proof.bench;

/**
 * How the events of a run are spread over their topic.
 *
 * @param partitions how many partitions are used, from 0 on; the events of a key share one
 * @param copies how often each event is there; the next copy comes {@value #DISTANCE} records later, so in a later
 *     batch
 */
record Delivery(int partitions, int copies) {

    static final int DISTANCE = 1_000;

    static final Delivery PLAIN = new Delivery(1, 1);

    Delivery {
        if (partitions < 1 || copies < 1) {
            throw new IllegalArgumentException(
                    "a delivery needs partitions and copies, got " + partitions + " and " + copies);
        }
    }

    int partitionOf(Workload workload, int number) {
        return workload.customer(number) % partitions;
    }

    String label() {
        return (partitions == 1 ? "1 partition" : partitions + " partitions")
                + (copies == 1 ? "" : ", each " + copies + " times");
    }
}
