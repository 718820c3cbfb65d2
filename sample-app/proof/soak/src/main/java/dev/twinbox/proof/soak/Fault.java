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
        ADD_PARTITION,
        /** The role loses its rights on a table. */
        REVOKE,
        /** Row-level security hides a table's rows from the role. */
        HIDE_ROWS,
        /** The topic is deleted and created again as it was. */
        SAME_PARTITIONS,
        /** The topic is deleted and created again with fewer partitions. */
        FEWER_PARTITIONS,
        /** The topic is deleted and created again with more partitions. */
        MORE_PARTITIONS,
        /** The application is exchanged for its other version. The server keeps running. */
        OTHER_VERSION,
        /** {@code kill -9}, and a start with the application's other version. */
        OTHER_VERSION_AFTER_KILL
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
        TOPIC,
        OUTBOX_EVENT,
        OUTBOX_POSITION,
        OUTBOX_LEASE,
        OUTBOX_PARKED,
        INBOX_EVENT,
        INBOX_PARKED,
        INBOX_EVENT_OFFSET,
        INBOX_HANDLER,
        TOPIC_NOTICES,
        RECEIVER_1_VERSION,
        RECEIVER_2_VERSION;

        private static final String VERSION = "_VERSION";

        /** The process that a fault of this target ends or stops; itself if there is none. */
        Target process() {
            return name().endsWith(VERSION) ? valueOf(name().substring(0, name().length() - VERSION.length())) : this;
        }
    }
}
