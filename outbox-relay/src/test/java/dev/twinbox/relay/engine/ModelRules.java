package dev.twinbox.relay.engine;

import dev.twinbox.relay.engine.ModelWorld.Batch;
import dev.twinbox.relay.engine.ModelWorld.Phase;
import dev.twinbox.relay.engine.ModelWorld.Process;
import dev.twinbox.relay.engine.ModelWorld.RelayModel;
import dev.twinbox.relay.engine.ModelWorld.Transaction;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.Slice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The possible next steps: one step of a transaction, of a relay or of the network, or a fault.
 *
 * @param scripts what the transactions do
 * @param pageSize of the relays
 * @param refused the event that Kafka refuses until an operator has fixed the cause; -1: none
 * @param wrong the error that is built into the relays; null: none
 * @param faults how many of each kind
 */
record ModelRules(
        List<Script> scripts,
        int pageSize,
        int refused,
        @Nullable Wrong wrong,
        Faults faults) {

    /** @param key whose row lock it takes before it writes the event */
    record Script(int key, Xid xid, End end) {}

    enum Xid {
        /** By another write, before the row lock. */
        EARLY,
        WITH_THE_LOCK
    }

    enum End {
        COMMIT,
        COMMIT_OR_ABORT,
        PREPARED
    }

    /** @param fences how many fences the relays take; without one, windows have no floor */
    record Faults(int crashes, int pauses, int databaseCrashes, int fences) {
        Faults(int crashes, int pauses, int databaseCrashes) {
            this(crashes, pauses, databaseCrashes, 0);
        }
    }

    /** Errors in a relay that look reasonable. */
    enum Wrong {
        ORDER_BY_XID,
        SAVE_BEFORE_ACK,
        NO_EPOCH,
        WINDOW_KEPT_OVER_A_DATABASE_CRASH,
        /** The fence reads the sequence after it has its xid. */
        SEQUENCE_READ_AFTER_THE_XID,
        /** The floor is the value of the sequence when the snapshot is taken. */
        FLOOR_WITHOUT_A_FENCE
    }

    /**
     * @param name for the reader of a trace
     * @param world the state after the step
     */
    record Step(Supplier<String> name, ModelWorld world) {}

    private static final int BATCHES = 2;

    ModelWorld start() {
        return new ModelWorld(scripts.size(), faults.databaseCrashes() > 0);
    }

    int keyOf(int event) {
        return scripts.get(event).key();
    }

    List<Step> steps(ModelWorld world) {
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < scripts.size(); i++) {
            transaction(world, i, steps);
        }
        for (int i = 0; i < world.relays.length; i++) {
            relay(world, i, steps);
            network(world, i, steps);
            faultsOf(world, i, steps);
        }
        surroundings(world, steps);
        return steps;
    }

    private static void step(ModelWorld world, Supplier<String> name, List<Step> steps, Consumer<ModelWorld> change) {
        ModelWorld next = world.copy();
        change.accept(next);
        steps.add(new Step(name, next));
    }

    // Applications

    private void transaction(ModelWorld world, int i, List<Step> steps) {
        Transaction now = world.transactions[i];
        Script script = scripts.get(i);
        String name = "transaction " + i;
        switch (now.phase) {
            case IDLE, HAS_XID -> begin(world, i, steps);
            case INSERTED -> {
                if (script.end() == End.PREPARED) {
                    step(world, () -> name + " is prepared", steps, w -> {
                        w.transactions[i].phase = Phase.PREPARED;
                        w.makeDurable(w.transactions[i].xid);
                    });
                } else {
                    step(world, () -> name + " commits", steps, w -> w.end(w.transactions[i], Phase.COMMITTED));
                }
                if (script.end() == End.COMMIT_OR_ABORT) {
                    step(world, () -> name + " aborts", steps, w -> w.end(w.transactions[i], Phase.ABORTED));
                }
            }
            case PREPARED -> {
                step(world, () -> name + ": commit prepared", steps, w -> w.end(w.transactions[i], Phase.COMMITTED));
                step(world, () -> name + ": rollback prepared", steps, w -> w.end(w.transactions[i], Phase.ABORTED));
            }
            case COMMITTED, ABORTED -> {}
        }
    }

    /**
     * One step for the row lock and the event: nothing between them is visible, and no other transaction writes the
     * key.
     */
    private void begin(ModelWorld world, int i, List<Step> steps) {
        Transaction now = world.transactions[i];
        if (scripts.get(i).xid() == Xid.EARLY && now.xid == 0) {
            step(world, () -> "transaction " + i + " gets its xid", steps, w -> {
                w.assignXid(w.transactions[i]);
                w.transactions[i].phase = Phase.HAS_XID;
            });
        } else if (isFree(world, keyOf(i))) {
            step(
                    world,
                    () -> "transaction " + i + " locks the row of key " + keyOf(i) + " and writes its event",
                    steps,
                    w -> {
                        w.assignXid(w.transactions[i]);
                        w.transactions[i].lockedAs = ++w.locks;
                        w.transactions[i].seq = w.nextSeq++;
                        w.transactions[i].phase = Phase.INSERTED;
                    });
        }
    }

    private boolean isFree(ModelWorld world, int key) {
        for (int i = 0; i < scripts.size(); i++) {
            if (keyOf(i) == key && world.transactions[i].holdsLock()) {
                return false;
            }
        }
        return true;
    }

    // Relays

    private void relay(ModelWorld world, int r, List<Step> steps) {
        RelayModel now = world.relays[r];
        String name = "relay " + r;
        if (now.process == Process.DOWN) {
            step(world, () -> name + " starts", steps, w -> w.relays[r].process = Process.STANDBY);
        } else if (now.mayWork(Process.STANDBY)) {
            // Before the first lease both relays are equal, so relay 0 takes it.
            if ((world.leaseEnded && (r == 0 || world.leaseEpoch > 0)) || world.leaseOwner == r) {
                step(world, () -> name + " takes the lease", steps, w -> take(w, r));
            }
        } else if (now.mayWork(Process.OWNER)) {
            if (now.generation != world.generation) {
                reconnect(world, r, steps);
            } else {
                work(world, r, steps);
            }
            place(world, r, steps);
        }
    }

    private void take(ModelWorld world, int r) {
        world.commitOwn(this);
        world.leaseOwner = r;
        world.leaseEpoch++;
        world.leaseEnded = false;
        RelayModel relay = world.relays[r];
        relay.process = Process.OWNER;
        relay.epoch = world.leaseEpoch;
        relay.certainlyHeld = true;
        relay.generation = world.generation;
        relay.number = world.savedNumber;
        relay.position = world.saved;
    }

    private void reconnect(ModelWorld world, int r, List<Step> steps) {
        if (wrong == Wrong.WINDOW_KEPT_OVER_A_DATABASE_CRASH) {
            step(
                    world,
                    () -> "relay " + r + " connects again and keeps its window",
                    steps,
                    w -> w.relays[r].generation = w.generation);
        } else {
            step(
                    world,
                    () -> "relay " + r + " notices that its connection is gone",
                    steps,
                    w -> w.relays[r].drop(Process.STANDBY));
        }
    }

    /** The steps that need the database. */
    private void work(ModelWorld world, int r, List<Step> steps) {
        RelayModel now = world.relays[r];
        if (!now.certainlyHeld) {
            step(world, () -> "relay " + r + " renews its lease", steps, w -> renew(w, r));
        }
        if (now.batches.size() < BATCHES) {
            read(world, r, steps);
            fence(world, r, steps);
        }
        if (!now.batches.isEmpty() && isDone(now, now.batches.get(0))) {
            step(world, () -> "relay " + r + " saves " + now.batches.get(0).after(), steps, w -> save(w, r));
        }
        if (now.retriedArrived) {
            step(
                    world,
                    () -> "relay " + r + " takes event " + now.retried + " out of the parked ones",
                    steps,
                    w -> release(w, r));
        }
    }

    private static void renew(ModelWorld world, int r) {
        if (isOwner(world, r)) {
            world.leaseEnded = false;
            world.relays[r].certainlyHeld = true;
        } else {
            world.relays[r].drop(Process.STANDBY);
        }
    }

    private static boolean isOwner(ModelWorld world, int r) {
        return world.leaseOwner == r && world.leaseEpoch == world.relays[r].epoch;
    }

    private boolean isDone(RelayModel relay, Batch batch) {
        return batch.isPlaced()
                && (wrong == Wrong.SAVE_BEFORE_ACK || batch.events().stream().noneMatch(relay.wire::contains));
    }

    /** Two steps, so that all others can come between them. */
    private void fence(ModelWorld world, int r, List<Step> steps) {
        RelayModel now = world.relays[r];
        boolean isWrong = wrong == Wrong.SEQUENCE_READ_AFTER_THE_XID;
        if (now.fenceBegun != null) {
            step(world, () -> "relay " + r + " ends its fence", steps, w -> {
                RelayModel relay = w.relays[r];
                relay.fence = isWrong ? Long.valueOf(w.nextSeq - 1) : relay.fenceBegun;
                w.latestEnded = Math.max(w.latestEnded, isWrong ? Math.toIntExact(relay.fenceBegun) : w.nextXid++);
                relay.fenceBegun = null;
            });
        } else if (now.position.to() == null && world.fences < faults.fences()) {
            step(world, () -> "relay " + r + " begins a fence", steps, w -> {
                w.fences++;
                w.relays[r].fenceBegun = (long) (isWrong ? w.nextXid++ : w.nextSeq - 1);
            });
        }
    }

    private void read(ModelWorld world, int r, List<Step> steps) {
        Position before = world.relays[r].position;
        if (world.relays[r].fenceBegun != null) {
            return; // One connection does one thing after the other.
        }
        Long fence = wrong == Wrong.FLOOR_WITHOUT_A_FENCE ? Long.valueOf(world.nextSeq - 1) : world.relays[r].fence;
        Slice slice = world.read(before, fence, order(), pageSize);
        Position after = Window.after(before, slice);
        boolean isBatch = !slice.records().isEmpty() || before.to() != null;
        if (!isBatch && after.equals(before)) {
            return;
        }
        List<Integer> events = eventsOf(world, slice);
        step(world, () -> "relay " + r + " reads " + events + " and stands at " + after, steps, w -> {
            RelayModel relay = w.relays[r];
            relay.position = after;
            if (isBatch) {
                List<Batch> batches = new ArrayList<>(relay.batches);
                batches.add(new Batch(events, 0, List.of(), after));
                relay.batches = List.copyOf(batches);
            }
        });
    }

    private static List<Integer> eventsOf(ModelWorld world, Slice slice) {
        List<Integer> events = new ArrayList<>();
        for (OutboxRecord row : slice.records()) {
            events.add(world.eventOf(row.seq()));
        }
        return List.copyOf(events);
    }

    private Comparator<Transaction> order() {
        return Comparator.comparingInt(each -> wrong == Wrong.ORDER_BY_XID ? each.xid : each.seq);
    }

    /** One transaction: the position, the events parked before it, and the check of the lease. */
    private void save(ModelWorld world, int r) {
        RelayModel relay = world.relays[r];
        if (!isOwner(world, r) && wrong != Wrong.NO_EPOCH) {
            relay.drop(Process.STANDBY);
            return;
        }
        Batch done = relay.batches.get(0);
        world.commitOwn(this);
        relay.batches = List.copyOf(relay.batches.subList(1, relay.batches.size()));
        relay.number++;
        for (int event : done.toPark()) {
            if (!world.parked.contains(event)) {
                world.parked = ModelWorld.with(world.parked, event);
            }
        }
        if (relay.number >= world.savedNumber) {
            world.savedNumber = relay.number;
            world.saved = done.after();
        }
    }

    /** A parked event has been sent. */
    private void release(ModelWorld world, int r) {
        RelayModel relay = world.relays[r];
        if (isOwner(world, r)) {
            world.commitOwn(this);
            world.parked = ModelWorld.without(world.parked, relay.retried);
            relay.retried = -1;
            relay.retriedArrived = false;
        } else {
            relay.drop(Process.STANDBY);
        }
    }

    /** Hands the next record over, or parks it; also sends the first parked event if it is due. */
    private void place(ModelWorld world, int r, List<Step> steps) {
        RelayModel now = world.relays[r];
        for (int b = 0; b < now.batches.size(); b++) {
            Batch batch = now.batches.get(b);
            if (!batch.isPlaced()) {
                placeNext(world, r, b, steps);
                break;
            }
        }
        if (!world.parked.isEmpty()
                && world.mended
                && now.retried < 0
                && now.certainlyHeld
                && now.generation == world.generation) {
            int first = world.parked.get(0);
            step(
                    world,
                    () -> "relay " + r + " hands over parked event " + first,
                    steps,
                    w -> w.relays[r].retried = first);
        }
    }

    private void placeNext(ModelWorld world, int r, int b, List<Step> steps) {
        RelayModel now = world.relays[r];
        int event = now.batches.get(b).events().get(now.batches.get(b).placed());
        if ((event == refused && !world.mended) || isBlocked(world, now, event)) {
            step(
                    world,
                    () -> "relay " + r + " parks event " + event,
                    steps,
                    w -> replace(w.relays[r], b, w.relays[r].batches.get(b).parkedOne()));
        } else if (now.cleared || (now.certainlyHeld && world.pauses >= faults.pauses())) {
            step(world, () -> "relay " + r + " hands over event " + event, steps, w -> {
                RelayModel relay = w.relays[r];
                relay.cleared = false;
                relay.wire = ModelWorld.with(relay.wire, event);
                replace(relay, b, relay.batches.get(b).placedOne());
            });
        } else if (now.certainlyHeld) { // The process may be suspended between reading the clock and the hand-over.
            step(world, () -> "relay " + r + " sees that it holds the lease", steps, w -> w.relays[r].cleared = true);
        }
    }

    private boolean isBlocked(ModelWorld world, RelayModel relay, int event) {
        int key = keyOf(event);
        return world.parked.stream().anyMatch(each -> keyOf(each) == key)
                || relay.batches.stream()
                        .flatMap(each -> each.toPark().stream())
                        .anyMatch(each -> keyOf(each) == key);
    }

    private static void replace(RelayModel relay, int b, Batch batch) {
        List<Batch> batches = new ArrayList<>(relay.batches);
        batches.set(b, batch);
        relay.batches = List.copyOf(batches);
    }

    // The network continues while a process is suspended.

    private static void network(ModelWorld world, int r, List<Step> steps) {
        RelayModel now = world.relays[r];
        if (!now.wire.isEmpty()) {
            step(world, () -> "event " + now.wire.get(0) + " of relay " + r + " arrives", steps, w -> {
                w.arrive(now.wire.get(0));
                w.relays[r].wire = ModelWorld.withoutFirst(now.wire);
            });
        }
        if (now.retried >= 0 && !now.retriedArrived) {
            step(world, () -> "parked event " + now.retried + " of relay " + r + " arrives", steps, w -> {
                w.arrive(now.retried);
                w.relays[r].retriedArrived = true;
            });
        }
        if (!now.abandoned.isEmpty()) {
            step(
                    world,
                    () -> "event " + now.abandoned.get(0) + " of a closed producer of relay " + r + " arrives",
                    steps,
                    w -> {
                        w.arrive(now.abandoned.get(0));
                        w.relays[r].abandoned = ModelWorld.withoutFirst(now.abandoned);
                    });
            step(
                    world,
                    () -> "what a closed producer of relay " + r + " held is lost",
                    steps,
                    w -> w.relays[r].abandoned = List.of());
        }
    }

    // Faults and their ends

    private void faultsOf(ModelWorld world, int r, List<Step> steps) {
        RelayModel now = world.relays[r];
        if (now.process == Process.OWNER && world.crashes < faults.crashes()) {
            step(world, () -> "relay " + r + " is killed", steps, w -> {
                w.crashes++;
                w.relays[r].drop(Process.DOWN);
                w.relays[r].paused = false;
            });
        }
        if (now.mayWork(Process.OWNER) && world.pauses < faults.pauses()) {
            step(world, () -> "relay " + r + " is stopped", steps, w -> {
                w.pauses++;
                w.relays[r].paused = true;
            });
        }
        if (now.paused) {
            step(world, () -> "relay " + r + " wakes up", steps, w -> {
                RelayModel relay = w.relays[r];
                relay.paused = false;
                relay.certainlyHeld = isOwner(w, r) && !w.leaseEnded;
            });
        }
    }

    private void surroundings(ModelWorld world, List<Step> steps) {
        if (!world.leaseEnded && isAway(world.relays[world.leaseOwner])) {
            step(world, () -> "the lease ends", steps, w -> w.leaseEnded = true);
        }
        if (world.databaseCrashes < faults.databaseCrashes()) {
            step(world, () -> "the database crashes", steps, w -> {
                w.databaseCrashes++;
                w.crashDatabase();
            });
        }
        if (!world.mended && !world.parked.isEmpty()) {
            step(world, () -> "an operator fixes what Kafka refused, and retries it", steps, w -> w.mended = true);
        }
    }

    private static boolean isAway(RelayModel relay) {
        return relay.paused || relay.process == Process.DOWN;
    }

    /** The guarantee that this step has broken, whatever state it led to; null: none. */
    @Nullable String violation(ModelWorld before, ModelWorld after) {
        if (before.saved.equals(after.saved)) {
            return null;
        }
        for (int i = 0; i < scripts.size(); i++) {
            Transaction event = after.transactions[i];
            boolean wasCovered = before.transactions[i].phase == Phase.COMMITTED
                    && ModelWorld.covers(before.saved, before.transactions[i]);
            if (wasCovered && !ModelWorld.covers(after.saved, event)) {
                return "G6: the saved position has moved back, from " + before.saved + " to " + after.saved;
            }
        }
        return null;
    }
}
