package dev.twinbox.proof.soak;

import java.time.Duration;

/**
 * One planned fault.
 *
 * @param number counts the faults of a run from 1, in the order of their times
 * @param at time since the start of the run; the fault begins later if its target has not recovered from the previous
 *     one
 * @param length how long it lasts: the process stays stopped or paused, the connection stays broken; zero if it has no
 *     length
 */
record Fault(int number, Duration at, Kind kind, Target target, Duration length) {

    /** What fails. */
    enum Kind {
        /** {@code kill -9}, to the process and its children. */
        KILL,
        /** A clean stop and a start. */
        RESTART,
        /** {@code SIGSTOP}, then {@code SIGCONT}. */
        PAUSE,
        /** The WAR is undeployed and deployed again. The server keeps running. */
        REDEPLOY,
        /** All connections are reset, new ones are refused. */
        CUT,
        /** Connections stay open, no byte gets through. */
        BLACK_HOLE,
        /** The topic gets one more partition. */
        ADD_PARTITION
    }

    /** Where it happens. */
    enum Target {
        RELAY_1,
        RELAY_2,
        RECEIVER_1,
        RECEIVER_2,
        PRODUCER,
        BROKER_1,
        BROKER_2,
        BROKER_3,
        POSTGRES,
        RELAY_1_TO_POSTGRES,
        RELAY_1_TO_KAFKA,
        RELAY_2_TO_POSTGRES,
        RELAY_2_TO_KAFKA,
        RECEIVER_1_TO_POSTGRES,
        RECEIVER_2_TO_POSTGRES,
        RECEIVERS_TO_KAFKA,
        PRODUCER_TO_POSTGRES,
        TOPIC
    }
}
