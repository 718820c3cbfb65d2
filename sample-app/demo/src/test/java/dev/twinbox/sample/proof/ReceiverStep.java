package dev.twinbox.sample.proof;

import static dev.twinbox.sample.proof.KillPoint.enter;
import static dev.twinbox.sample.proof.KillPoint.enterInbox;
import static dev.twinbox.sample.proof.KillPoint.leave;
import static dev.twinbox.sample.proof.KillPoint.leaveInbox;

import dev.twinbox.sample.proof.ReceiverCrash.Race;
import java.util.List;

/**
 * The steps of the receiver, each with the place in its code where the step has just been done. Handlers of different contracts run side by side, so
 * one kill shows what it means for each of them, when all of them stand at the step; where one thread does the step for two contracts, each has a
 * kill of its own.
 */
enum ReceiverStep {
    POLLED("polled", leaveInbox("AssignedPartition", "add").about("$1.toString()"), "E1", "M1"),
    POLLED_AT_LEAST_ONCE("polled", POLLED.point, "L1"),
    CLAIMED("claimed", leaveAttempt("claim"), "E2"),
    BEGUN("handler begun", enter(ReceiverCrash.HANDLERS, "apply").about(coordinates("$1")), "E3", "L2", "M3"),
    DONE("handler done", leave(ReceiverCrash.HANDLERS, "insert").about(coordinates("$2")), "E4", "L3", "M4"),
    BEFORE_COMMIT("before commit", leaveAttempt("run").when("$0.thrown == null"), "E5", "L4", "M5"),
    AFTER_COMMIT("after commit", leaveAttempt("execute").when("$0.isCommitted()"), "E6", "L5", "M6"),
    OFFSET_COMMITTED(
            "offset committed", leaveInbox("AssignedPartition", "committed").about(lastBefore("$1")), "E7", "M2"),
    OFFSET_COMMITTED_AT_LEAST_ONCE("offset committed", OFFSET_COMMITTED.point, "L6"),
    PARKED("parked", leaveInbox("Parking", "park").about("$1.toString()"), "E8", "L7"),
    REDRIVING("parked event handled, before commit", BEFORE_COMMIT.point, "E9"),
    REDRIVEN(
            "parked event handled, after commit",
            enterInbox("RetryLoop", "promote").about("$2.toString()"),
            "E10"),
    REDRIVEN_AT_LEAST_ONCE("parked event handled, after commit", REDRIVEN.point, "L8");

    private final String step;
    private final KillPoint point;
    private final List<String> rows;

    ReceiverStep(String step, KillPoint point, String... rows) {
        this.step = step;
        this.point = point;
        this.rows = List.of(rows);
    }

    private static KillPoint leaveAttempt(String method) {
        return leaveInbox("Attempt", method).about("$0.events.toString()");
    }

    /** As events print themselves. */
    private static String coordinates(String context) {
        return "%1$s.topic() + \"-\" + %1$s.partition() + \"@\" + %1$s.offset() + \" \"".formatted(context);
    }

    /** The same for the event that the offset of a partition is just behind. */
    private static String lastBefore(String offset) {
        return "\"behind \" + $0.partition() + \"@\" + (%s - 1) + \" \"".formatted(offset);
    }

    String step() {
        return step;
    }

    KillPoint point() {
        return point;
    }

    /** The numbers of the rows that a kill here is for. */
    List<String> rows() {
        return rows;
    }

    List<Handling> handlings() {
        return rows.stream().map(Handling::of).toList();
    }

    /** Whether the handlers refuse their events at first. */
    boolean isAboutParking() {
        return this == PARKED || isAboutRedrive();
    }

    boolean isAboutRedrive() {
        return this == REDRIVING || this == REDRIVEN || this == REDRIVEN_AT_LEAST_ONCE;
    }

    /** In which ways a race that the step leaves open can end; each is tried. */
    List<Race> races() {
        return this == PARKED ? List.of(Race.KAFKA_FIRST, Race.RETRY_FIRST) : List.of(Race.NONE);
    }

    /** Where the process dies for the second time. */
    KillPoint pointOfRecovery() {
        return this == PARKED ? DONE.point : point;
    }

    /** The rows for a second kill, without their b; those whose handlers come by there once more. None: such a kill is not tried. */
    List<String> rowsOfSecondKill() {
        return switch (this) {
            case POLLED, CLAIMED, REDRIVING -> rows;
            case DONE, BEFORE_COMMIT, AFTER_COMMIT ->
                rows.stream()
                        .filter(row -> Contract.of(row) != Contract.AT_MOST_ONCE)
                        .toList();
            case PARKED -> List.of("E8");
            default -> List.of();
        };
    }
}
