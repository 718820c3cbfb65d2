package dev.twinbox.proof.soak;

import java.time.Duration;

/**
 * One thing that is to go wrong.
 *
 * @param number counts the faults of a run in the order of their times, from 1
 * @param at since the run's begin; later if the target is not back from its fault before
 * @param length how long it lasts: a killed process stays away, a paused one stands, a connection is cut; zero if it has no length
 */
record Fault(int number, Duration at, Kind kind, Target target, Duration length) {

    /** What goes wrong. */
    enum Kind {
        /** {@code kill -9}, to the process and its children. */
        KILL,
        /** A clean end and a start. */
        RESTART,
        /** {@code SIGSTOP}, later {@code SIGCONT}. */
        PAUSE,
        /** The WAR is undeployed and deployed again while the server runs on. */
        REDEPLOY,
        /** All connections are reset and new ones refused. */
        CUT,
        /** Connections stay, and nothing gets through. */
        BLACK_HOLE,
        /** The topic gets one more partition. */
        ADD_PARTITION
    }

    /** What it happens to. */
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
