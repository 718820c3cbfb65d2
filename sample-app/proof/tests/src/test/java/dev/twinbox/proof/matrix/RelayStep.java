package dev.twinbox.proof.matrix;

import static dev.twinbox.proof.matrix.KillPoint.enterRelay;
import static dev.twinbox.proof.matrix.KillPoint.inRelay;
import static dev.twinbox.proof.matrix.KillPoint.leaveRelay;

import dev.twinbox.proof.matrix.RelayCrash.Race;
import dev.twinbox.proof.matrix.RelayCrash.Work;
import java.util.List;

/** The steps of the relay, in order, each with the place in the code where it is done. */
enum RelayStep {
    PAGE_READ("A1", "page read", enterRelay("engine.InFlight", "add").when("$1.records().size() > 0")),
    FIRST_SENT(
            "A2",
            "first record sent",
            leaveRelay("engine.ProducerCalls", "send").when("$!"),
            Work.EVENTS,
            Race.NOTHING_ARRIVED,
            Race.ONE_ARRIVED),
    ALL_SENT(
            "A3",
            "all records sent",
            leaveRelay("engine.Sender", "send").when("$1.records().size() > 0"),
            Work.EVENTS,
            Race.NOTHING_ARRIVED,
            Race.ALL_ARRIVED),
    SOME_ACKED(
            "A4",
            "one record acknowledged",
            leaveRelay("jdbc.OutboxRecord", "onCompletion"),
            Work.EVENTS,
            Race.ALL_ARRIVED_THEN_ANSWERED),
    ALL_ACKED(
            "A5",
            "all records acknowledged",
            leaveRelay("engine.InFlight", "pollDone").when("$! != null")),
    POSITION_SAVED("A6", "position saved", leaveRelay("jdbc.PositionTable", "save")),
    LEASE_RENEWED(
            "A7",
            "lease renewed, before or while records are on their way",
            leaveRelay("jdbc.LeaseTable", "renew"),
            Work.EVENTS,
            Race.SETTLED,
            Race.ALL_ARRIVED_FIRST),
    PARKING("A8", "record parked, not committed", leaveRelay("jdbc.ParkedInsert", "park"), Work.MISSING_TOPIC),
    PARKED("A9", "record parked", leaveRelay("engine.RelaySession", "park"), Work.MISSING_TOPIC),
    RETRIED(
            "A10",
            "parked record sent and acknowledged",
            enterRelay("engine.RetryDelivery", "settle"),
            Work.PARKED_WHOSE_TOPIC_COMES),
    TRUNCATING(
            "A11",
            "slot truncated, not committed",
            leaveRelay("jdbc.EventSlots", "emptyUnderLock").when(RelayCrash.EMPTIED),
            Work.OLD_SLOT),
    TRUNCATED(
            "A12", "slot truncated", leaveRelay("jdbc.EventSlots", "tryEmpty").when(RelayCrash.EMPTIED), Work.OLD_SLOT),

    BEGUN("X1", "transaction begun", leaveRelay("engine.TransactionalPages", "begin")),
    FIRST_SENT_IN_TRANSACTION(
            "X2",
            "first record sent",
            leaveRelay("engine.ProducerCalls", "send").when("$!")),
    ALL_SENT_IN_TRANSACTION(
            "X3",
            "all records sent",
            leaveRelay("engine.Sender", "send").when("$1.records().size() > 0"),
            Work.EVENTS,
            Race.NOTHING_ARRIVED),
    PREPARED("X4", "position prepared", leaveRelay("engine.ExactlyOnce", "save")),
    OFFSETS_SENT("X5", "offsets sent", inRelay("kafka.PositionTopic", "commit", "AT INVOKE commitTransaction")),
    COMMITTED("X6", "transaction committed", leaveRelay("kafka.PositionTopic", "commit")),
    CONFIRMED("X7", "position confirmed", leaveRelay("engine.ExactlyOnce", "confirm"));

    private final String number;
    private final String step;
    private final KillPoint point;
    private final Work work;
    private final List<Race> races;

    RelayStep(String number, String step, KillPoint point) {
        this(number, step, point, Work.EVENTS);
    }

    RelayStep(String number, String step, KillPoint point, Work work, Race... races) {
        this.number = number;
        this.step = step;
        this.point = point;
        this.work = work;
        this.races = races.length == 0 ? List.of(Race.NONE) : List.of(races);
    }

    String number() {
        return number;
    }

    String step() {
        return step;
    }

    KillPoint point() {
        return point;
    }

    Work work() {
        return work;
    }

    /** The possible outcomes of a race with the network. Each is tried. */
    List<Race> races() {
        return races;
    }

    boolean isExactlyOnce() {
        return Contract.of(number) == Contract.PUBLISH_EXACTLY_ONCE;
    }

    /** Where the process dies again: at the same step, if a recovery reaches it before another relay takes over. */
    KillPoint pointOfRecovery() {
        return switch (this) {
            case ALL_SENT, POSITION_SAVED, LEASE_RENEWED, PARKED, TRUNCATED ->
                leaveRelay("engine.AtLeastOnce", "begin");
            case ALL_SENT_IN_TRANSACTION, COMMITTED, CONFIRMED -> leaveRelay("engine.ExactlyOnce", "begin");
            default -> point;
        };
    }
}
