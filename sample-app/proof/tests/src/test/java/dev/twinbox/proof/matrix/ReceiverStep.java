package dev.twinbox.proof.matrix;

import static dev.twinbox.proof.matrix.KillPoint.enter;
import static dev.twinbox.proof.matrix.KillPoint.enterInbox;
import static dev.twinbox.proof.matrix.KillPoint.leave;
import static dev.twinbox.proof.matrix.KillPoint.leaveInbox;

import dev.twinbox.proof.matrix.ReceiverCrash.Race;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The steps of the receiver, each with the place in the code where it is done. Handlers of different contracts run in
 * parallel. One kill shows the result for each of them, when all of them have reached the step. Where one thread does
 * the step for two contracts, each contract has its own kill.
 */
enum ReceiverStep {
    POLLED("polled", leaveInbox("AssignedPartition", "add").about("$1.toString()"), "E1", "M1"),
    POLLED_AT_LEAST_ONCE("polled", POLLED.point, "L1"),
    CLAIMED("claimed", leaveAttempt("claim"), "E2"),
    BEGUN("handler called", enter(ReceiverCrash.HANDLERS, "apply").about(coordinates("$1")), "E3", "L2", "M3"),
    DONE("handler done", leave(ReceiverCrash.HANDLERS, "insert").about(coordinates("$2")), "E4", "L3", "M4"),
    BEFORE_COMMIT("before commit", leaveAttempt("run").when("$0.thrown == null"), "E5", "L4", "M5"),
    AFTER_COMMIT("after commit", leaveAttempt("execute").when("$0.isCommitted()"), "E6", "L5", "M6"),
    OFFSET_COMMITTED(
            "offset committed", leaveInbox("AssignedPartition", "committed").about(lastBefore("$1")), "E7", "M2"),
    OFFSET_COMMITTED_AT_LEAST_ONCE("offset committed", OFFSET_COMMITTED.point, "L6"),
    PARKED("parked", leaveInbox("Parking", "park").about("$1.toString()"), "E8", "L7"),
    RETRYING("parked event handled, before commit", BEFORE_COMMIT.point, "E9"),
    RETRIED(
            "parked event handled, after commit",
            enterInbox("ParkedRetries", "promote").about("$2.toString()"),
            "E10"),
    RETRIED_AT_LEAST_ONCE("parked event handled, after commit", RETRIED.point, "L8");

    /** About the partition, not an event: nothing is read yet. */
    static final KillPoint ASSIGNED = leaveInbox("AssignedPartition", "<init>").about("\"\" + $0.partition() + \"@\"");

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

    /** The text by which the receiver logs an event. */
    private static String coordinates(String context) {
        return "%1$s.topic() + \"-\" + %1$s.partition() + \"@\" + %1$s.offset() + \" \"".formatted(context);
    }

    /** The same for the last event before a partition's offset. */
    private static String lastBefore(String offset) {
        return "\"behind \" + $0.partition() + \"@\" + (%s - 1) + \" \"".formatted(offset);
    }

    String step() {
        return step;
    }

    KillPoint point() {
        return point;
    }

    /** The numbers of the rows that this kill measures. */
    List<String> rows() {
        return rows;
    }

    List<Handling> handlings() {
        return rows.stream().map(Handling::of).toList();
    }

    /** Whether the handlers refuse their events at first. */
    boolean isAboutParking() {
        return this == PARKED || isAboutRetry();
    }

    boolean isAboutRetry() {
        return this == RETRYING || this == RETRIED || this == RETRIED_AT_LEAST_ONCE;
    }

    /** The possible outcomes of a race that the step leaves open. Each is tried. */
    List<Race> races() {
        return this == PARKED ? List.of(Race.KAFKA_FIRST, Race.RETRY_FIRST) : List.of(Race.NONE);
    }

    /**
     * How the process can die again. Each way is tried. The handlers stop at the same time: at the step if they reach
     * it again, else when their partition is assigned.
     */
    List<SecondDeath> secondDeaths() {
        if (this == PARKED) {
            // One thread retries parked events, so only one handler can be at the step.
            return List.of(
                    new SecondDeath(List.of(Race.NONE), inHandler("E8")),
                    new SecondDeath(List.of(Race.KAFKA_FIRST, Race.RETRY_FIRST), inHandler("L7")));
        }
        List<SecondKill> kills = new ArrayList<>();
        addUnlessEmpty(kills, point, "there", rows.stream().filter(this::isMetAgain));
        addUnlessEmpty(
                kills,
                ASSIGNED,
                "when its partition was assigned",
                rows.stream().filter(row -> !isMetAgain(row)));
        return List.of(new SecondDeath(List.of(Race.NONE), kills));
    }

    private static List<SecondKill> inHandler(String row) {
        return List.of(new SecondKill(DONE.point, "when the handler was done", List.of(row)));
    }

    private static void addUnlessEmpty(List<SecondKill> kills, KillPoint point, String where, Stream<String> rows) {
        List<String> each = rows.toList();
        if (!each.isEmpty()) {
            kills.add(new SecondKill(point, where, each));
        }
    }

    private boolean isMetAgain(String row) {
        return switch (this) {
            case POLLED, POLLED_AT_LEAST_ONCE, CLAIMED, RETRYING -> true;
            case BEGUN, DONE, BEFORE_COMMIT, AFTER_COMMIT -> Contract.of(row) != Contract.AT_MOST_ONCE;
            case OFFSET_COMMITTED, OFFSET_COMMITTED_AT_LEAST_ONCE, PARKED, RETRIED, RETRIED_AT_LEAST_ONCE -> false;
        };
    }

    /** @param races the possible outcomes of what the death leaves open; each is tried */
    record SecondDeath(List<Race> races, List<SecondKill> kills) {
        List<String> rows() {
            return kills.stream().flatMap(kill -> kill.rows().stream()).toList();
        }
    }

    /** @param rows their numbers without the b */
    record SecondKill(KillPoint point, String where, List<String> rows) {
        List<Handling> handlings() {
            return rows.stream().map(Handling::of).toList();
        }
    }
}
