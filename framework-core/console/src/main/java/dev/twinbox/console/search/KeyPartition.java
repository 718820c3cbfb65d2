package dev.twinbox.console.search;

import org.apache.kafka.common.utils.Utils;

/** The partition that Kafka's own partitioner chooses for a key. */
public final class KeyPartition {
    private KeyPartition() {}

    /** Its number. */
    public static int of(byte[] key, int partitions) {
        return Utils.toPositive(Utils.murmur2(key)) % partitions;
    }
}
