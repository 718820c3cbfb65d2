package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.OutboxTable;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.Slice;
import dev.twinbox.relay.jdbc.Snapshot;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/**
 * One state of the model: PostgreSQL, as far as the relay's guarantees need it, Kafka, and two relays. An event is
 * named by the number of the transaction that writes it. Each transaction writes one event.
 */
final class ModelWorld {
    private static final Map<String, Snapshot> SNAPSHOTS = new HashMap<>();
    private static final Map<String, BitSet> VISIBLE = new HashMap<>();
    private static final Map<Position, Integer> POSITIONS = new HashMap<>();
    private static final List<OutboxRecord> ROWS = IntStream.range(0, 10)
            .mapToObj(seq -> new OutboxRecord(seq, new ProducerRecord<>("t", null, null)))
            .toList();
    private static final int FIRST_XID = 3;

    enum Phase {
        IDLE,
        HAS_XID,
        INSERTED,
        PREPARED,
        COMMITTED,
        ABORTED
    }

    /** A transaction of an application; 0: none yet. */
    static final class Transaction {
        Phase phase = Phase.IDLE;
        int xid;
        int seq;
        int lockedAs; // counts the holders of the row lock of its key

        Transaction copy() {
            Transaction copy = new Transaction();
            copy.phase = phase;
            copy.xid = xid;
            copy.seq = seq;
            copy.lockedAs = lockedAs;
            return copy;
        }

        boolean isRunning() {
            return xid != 0 && phase.ordinal() < Phase.COMMITTED.ordinal();
        }

        boolean holdsLock() {
            return phase.ordinal() >= Phase.INSERTED.ordinal() && phase.ordinal() <= Phase.PREPARED.ordinal();
        }
    }

    /** What a relay has read and not saved; immutable. */
    record Batch(List<Integer> events, int placed, List<Integer> toPark, Position after) {
        boolean isPlaced() {
            return placed == events.size();
        }

        Batch placedOne() {
            return new Batch(events, placed + 1, toPark, after);
        }

        Batch parkedOne() {
            List<Integer> more = new ArrayList<>(toPark);
            more.add(events.get(placed));
            return new Batch(events, placed + 1, List.copyOf(more), after);
        }
    }

    enum Process {
        DOWN,
        STANDBY,
        OWNER
    }

    /** One relay process, with its memory and the content of its sockets. */
    static final class RelayModel {
        Process process = Process.STANDBY;
        boolean paused;
        boolean certainlyHeld; // by its own clock
        boolean cleared; // the check before a hand-over has passed
        int epoch;
        int generation; // of the database that it is connected to
        int number; // of the position that it has saved or loaded
        Position position = Position.START;

        @Nullable Long fenceBegun; // what a fence has read of the sequence, or that it has its xid

        @Nullable Long fence; // the floor of the snapshots that are taken from now on

        List<Batch> batches = List.of();
        List<Integer> wire = List.of(); // handed to the producer and not in Kafka
        List<Integer> abandoned = List.of(); // the same for closed producers: may still arrive
        int retried = -1; // the parked event that has been handed over
        boolean retriedArrived;

        RelayModel copy() {
            RelayModel copy = new RelayModel();
            copy.process = process;
            copy.paused = paused;
            copy.certainlyHeld = certainlyHeld;
            copy.cleared = cleared;
            copy.epoch = epoch;
            copy.generation = generation;
            copy.number = number;
            copy.position = position;
            copy.fenceBegun = fenceBegun;
            copy.fence = fence;
            copy.batches = batches;
            copy.wire = wire;
            copy.abandoned = abandoned;
            copy.retried = retried;
            copy.retriedArrived = retriedArrived;
            return copy;
        }

        /** The session ends, with all that is in memory. */
        void drop(Process next) {
            List<Integer> left = new ArrayList<>(abandoned);
            left.addAll(wire);
            if (retried >= 0 && !retriedArrived) {
                left.add(retried);
            }
            abandoned = List.copyOf(left);
            wire = List.of();
            batches = List.of();
            retried = -1;
            retriedArrived = false;
            position = Position.START;
            fenceBegun = null;
            fence = null;
            process = next;
            certainlyHeld = false;
            cleared = false;
            epoch = 0;
            number = 0;
            generation = 0;
        }

        boolean mayWork(Process as) {
            return process == as && !paused;
        }

        void appendTo(StringBuilder key) {
            add(
                    key,
                    process.ordinal(),
                    paused ? 1 : 0,
                    certainlyHeld ? 1 : 0,
                    cleared ? 1 : 0,
                    epoch,
                    generation,
                    number);
            add(key, numberOf(position), retried, retriedArrived ? 1 : 0, batches.size());
            add(key, numberOf(fenceBegun), numberOf(fence));
            for (Batch each : batches) {
                addAll(key, each.events());
                addAll(key, each.toPark());
                add(key, each.placed(), numberOf(each.after()));
            }
            addAll(key, wire);
            addAll(key, abandoned);
        }
    }

    int nextXid = FIRST_XID;
    int latestEnded = FIRST_XID - 1;
    int durableXid = FIRST_XID - 1;
    int nextSeq = 1;
    int durableSeq = 1; // where the sequence continues after a crash
    final boolean mayCrash;
    int locks;
    int generation = 1;
    Transaction[] transactions;
    int leaseOwner = -1;
    int leaseEpoch;
    boolean leaseEnded = true;
    int savedNumber;
    Position saved = Position.START;
    List<Integer> parked = List.of();
    boolean mended;
    List<Integer> firstAppearances = List.of();
    RelayModel[] relays = {new RelayModel(), new RelayModel()};
    int crashes;
    int pauses;
    int databaseCrashes;
    int fences;

    /** @param mayCrash otherwise what is durable does not matter, and states that differ in it are equal */
    ModelWorld(int transactions, boolean mayCrash) {
        this.mayCrash = mayCrash;
        this.transactions = IntStream.range(0, transactions)
                .mapToObj(i -> new Transaction())
                .toArray(Transaction[]::new);
    }

    ModelWorld copy() {
        ModelWorld copy = new ModelWorld(0, mayCrash);
        copy.nextXid = nextXid;
        copy.latestEnded = latestEnded;
        copy.durableXid = durableXid;
        copy.nextSeq = nextSeq;
        copy.durableSeq = durableSeq;
        copy.locks = locks;
        copy.generation = generation;
        copy.transactions = new Transaction[transactions.length];
        for (int i = 0; i < transactions.length; i++) {
            copy.transactions[i] = transactions[i].copy();
        }
        copy.leaseOwner = leaseOwner;
        copy.leaseEpoch = leaseEpoch;
        copy.leaseEnded = leaseEnded;
        copy.savedNumber = savedNumber;
        copy.saved = saved;
        copy.parked = parked;
        copy.mended = mended;
        copy.firstAppearances = firstAppearances;
        copy.relays = new RelayModel[] {relays[0].copy(), relays[1].copy()};
        copy.crashes = crashes;
        copy.pauses = pauses;
        copy.databaseCrashes = databaseCrashes;
        copy.fences = fences;
        return copy;
    }

    /** Equal for states that differ in nothing that matters. No number in it is larger than a character. */
    String key() {
        StringBuilder key = new StringBuilder(64);
        add(key, nextXid, latestEnded, durableXid, nextSeq, generation, leaseOwner, leaseEnded ? 1 : 0, leaseEpoch);
        add(key, savedNumber, numberOf(saved), mended ? 1 : 0, crashes, pauses, databaseCrashes, fences, durableSeq);
        addAll(key, parked);
        addAll(key, firstAppearances);
        for (Transaction each : transactions) {
            add(key, each.phase.ordinal(), each.xid, each.seq, each.lockedAs);
        }
        for (RelayModel each : relays) {
            each.appendTo(key);
        }
        return key.toString();
    }

    static void add(StringBuilder key, int... numbers) {
        for (int number : numbers) {
            key.append((char) (number + 1));
        }
    }

    static void addAll(StringBuilder key, List<Integer> numbers) {
        add(key, numbers.size());
        for (int i = 0; i < numbers.size(); i++) {
            add(key, numbers.get(i));
        }
    }

    static int numberOf(Position position) {
        return POSITIONS.computeIfAbsent(position, each -> POSITIONS.size());
    }

    private static int numberOf(@Nullable Long seq) {
        return seq == null ? 0 : Math.toIntExact(seq) + 1;
    }

    // PostgreSQL

    void assignXid(Transaction transaction) {
        if (transaction.xid == 0) {
            transaction.xid = nextXid++;
        }
    }

    void end(Transaction transaction, Phase how) {
        transaction.phase = how;
        latestEnded = Math.max(latestEnded, transaction.xid);
        if (how == Phase.COMMITTED) {
            makeDurable(transaction.xid);
        }
    }

    /** All that was logged before the commit is durable with it, also the sequence. */
    void makeDurable(int xid) {
        durableXid = Math.max(durableXid, xid);
        durableSeq = mayCrash ? nextSeq : durableSeq;
    }

    /**
     * A transaction of a relay, from begin to commit in one step. If the database never crashes, its xid is only a gap.
     * States that differ only in this gap are equal.
     */
    void commitOwn(ModelRules rules) {
        if (rules.faults().databaseCrashes() == 0) {
            return;
        }
        int xid = nextXid++;
        latestEnded = Math.max(latestEnded, xid);
        makeDurable(xid);
    }

    /** Running transactions are gone, and prepared ones stay. Xids without a durable trace are assigned again. */
    void crashDatabase() {
        for (Transaction each : transactions) {
            if (each.isRunning() && each.phase != Phase.PREPARED) {
                each.phase = Phase.ABORTED;
            }
        }
        generation++;
        nextSeq = durableSeq;
        nextXid = durableXid + 1;
        latestEnded = durableXid;
    }

    /** {@code pg_current_snapshot()}. */
    Snapshot snapshot() {
        int xmax = latestEnded + 1;
        StringBuilder running = new StringBuilder();
        int xmin = xmax;
        for (int xid = FIRST_XID; xid < xmax; xid++) {
            if (isRunning(xid)) {
                xmin = Math.min(xmin, xid);
                running.append(running.length() == 0 ? "" : ",").append(xid);
            }
        }
        String text = xmin + ":" + xmax + ":" + running;
        return SNAPSHOTS.computeIfAbsent(text, Snapshot::parse);
    }

    private boolean isRunning(int xid) {
        for (Transaction each : transactions) {
            if (each.xid == xid && each.isRunning()) {
                return true;
            }
        }
        return false;
    }

    /** {@code pg_visible_in_snapshot}, for a committed transaction. */
    static boolean isVisible(int xid, Snapshot snapshot) {
        return VISIBLE.computeIfAbsent(snapshot.text(), text -> visibleIn(snapshot))
                .get(xid);
    }

    private static BitSet visibleIn(Snapshot snapshot) {
        BitSet visible = new BitSet();
        visible.set(0, Integer.parseInt(snapshot.xmax()));
        String inProgress =
                snapshot.inProgress().substring(1, snapshot.inProgress().length() - 1);
        if (!inProgress.isEmpty()) {
            for (String xid : inProgress.split(",", -1)) {
                visible.clear(Integer.parseInt(xid));
            }
        }
        return visible;
    }

    /**
     * The rows that {@link OutboxTable} reads for a window: the rows of both branches, in order, up to the limit. Of
     * the transactions at or after {@code xmax} it reads only what is above the floor.
     */
    Slice read(Position position, @Nullable Long fence, Comparator<Transaction> order, int limit) {
        Snapshot now = snapshot().above(fence);
        Snapshot to = position.to();
        List<Transaction> found = new ArrayList<>();
        for (Transaction each : transactions) {
            if (each.phase == Phase.COMMITTED
                    && !isVisible(each.xid, position.from())
                    && isAboveFloor(each, position.from())
                    && (to == null || (each.seq > position.seq() && isVisible(each.xid, to)))) {
                found.add(each);
            }
        }
        found.sort(order);
        List<OutboxRecord> rows = new ArrayList<>();
        for (Transaction each : found.subList(0, Math.min(limit, found.size()))) {
            rows.add(ROWS.get(each.seq));
        }
        Slice.Cut cut = rows.size() == limit ? Slice.Cut.MORE_TO_COME : Slice.Cut.NOTHING_LEFT;
        return new Slice(rows, to == null ? now : null, cut, rows.size());
    }

    private static boolean isAboveFloor(Transaction row, Snapshot from) {
        Long floor = from.floor();
        return floor == null || row.xid < Integer.parseInt(from.xmax()) || row.seq > floor;
    }

    /** After a crash a number may be drawn again. So the number of an aborted transaction may belong to another one. */
    int eventOf(long seq) {
        for (int i = 0; i < transactions.length; i++) {
            if (transactions[i].seq == seq && transactions[i].phase == Phase.COMMITTED) {
                return i;
            }
        }
        throw new IllegalStateException("no event has seq " + seq);
    }

    /** Whether the position marks this event as done. */
    static boolean covers(Position position, Transaction event) {
        Snapshot to = position.to();
        return isVisible(event.xid, position.from())
                || (to != null && isVisible(event.xid, to) && event.seq <= position.seq());
    }

    // Kafka

    void arrive(int event) {
        if (!firstAppearances.contains(event)) {
            firstAppearances = with(firstAppearances, event);
        }
    }

    static List<Integer> with(List<Integer> list, int last) {
        List<Integer> longer = new ArrayList<>(list);
        longer.add(last);
        return List.copyOf(longer);
    }

    static List<Integer> withoutFirst(List<Integer> list) {
        return List.copyOf(list.subList(1, list.size()));
    }

    static List<Integer> without(List<Integer> list, int element) {
        return list.stream().filter(each -> each != element).toList();
    }

    boolean isOnItsWay(int event) {
        for (RelayModel each : relays) {
            if (each.wire.contains(event) || each.abandoned.contains(event) || each.retried == event) {
                return true;
            }
        }
        return false;
    }

    /** The guarantee that does not hold in this state; null: all of them hold. */
    @Nullable String violation(ModelRules rules) {
        for (int i = 0; i < transactions.length; i++) {
            Transaction event = transactions[i];
            boolean committed = event.phase == Phase.COMMITTED;
            if (!committed && firstAppearances.contains(i)) {
                return "G1: event " + i + " is on Kafka, its transaction has not committed";
            }
            if (committed
                    && covers(saved, event)
                    && !firstAppearances.contains(i)
                    && !parked.contains(i)
                    && !isOnItsWay(i)) {
                return "no event is skipped: event " + i + " is neither on Kafka nor parked, and the saved position, "
                        + saved + ", is after it";
            }
        }
        return violationOfOrder(rules);
    }

    private @Nullable String violationOfOrder(ModelRules rules) {
        for (int key = 0; key < transactions.length; key++) {
            int last = 0;
            for (int event : firstAppearances) {
                if (rules.keyOf(event) == key) {
                    if (transactions[event].lockedAs < last) {
                        return "G2: the events of one key came as " + firstAppearances
                                + ", against the order of its row lock";
                    }
                    last = transactions[event].lockedAs;
                }
            }
        }
        return null;
    }
}
