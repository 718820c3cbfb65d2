package dev.twinbox.proof.soak;

import dev.twinbox.fixtures.ChildProcess;
import dev.twinbox.fixtures.ChildProcessException;
import dev.twinbox.fixtures.TcpProxy;
import dev.twinbox.proof.soak.Fault.Target;
import dev.twinbox.proof.soak.FaultSchedule.Lane;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Injects the faults of a schedule, each lane in its own thread, and restores the targets. */
final class FaultInjector {

    private static final Duration BETWEEN_QUESTIONS = Duration.ofMillis(500);

    private final SoakLandscape landscape;
    private final FaultLog log;
    private final TopicCreatedAnew topic;
    private final Readiness readiness = new Readiness();
    private final List<Thread> lanes = new ArrayList<>();
    private final Set<Target> disturbed = ConcurrentHashMap.newKeySet();

    /** Two lanes end the same servers: one after the other. */
    private final Map<Target, Lock> processes = new ConcurrentHashMap<>();

    private final AtomicInteger noticed = new AtomicInteger();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private volatile @Nullable String failure;

    FaultInjector(SoakLandscape landscape, FaultLog log, TopicCreatedAnew topic, List<Fault> faults) {
        this.landscape = landscape;
        this.log = log;
        this.topic = topic;
        for (Lane lane : Lane.values()) {
            List<Fault> own =
                    faults.stream().filter(fault -> lane.owns(fault.target())).toList();
            Thread thread = new Thread(() -> run(own), "faults-" + lane);
            thread.setDaemon(true);
            lanes.add(thread);
        }
    }

    void start() {
        lanes.forEach(Thread::start);
    }

    private void run(List<Fault> faults) {
        for (Fault fault : faults) {
            if (await(fault.at().minus(log.elapsed()))) {
                return;
            }
            try {
                inject(fault);
            } catch (RuntimeException e) {
                failure = "After " + fault + ": " + e;
                log.say(failure);
                return;
            }
        }
    }

    private void inject(Fault fault) {
        Lock lock = processes.computeIfAbsent(fault.target().process(), target -> new ReentrantLock());
        lock.lock();
        try {
            if (stopped.getCount() > 0) {
                injectAlone(fault);
            }
        } finally {
            lock.unlock();
        }
    }

    private void injectAlone(Fault fault) {
        Target process = fault.target().process();
        disturbed.add(process);
        Duration begun = log.elapsed();
        if (!happen(fault)) {
            return;
        }
        Duration ended = log.elapsed();
        if (isProcess(fault.kind())) {
            landscape.bringUp(process);
        }
        log.fault(fault, begun, ended, log.elapsed());
        disturbed.remove(process);
    }

    /** Returns false if the run was over before. */
    private boolean happen(Fault fault) {
        switch (fault.kind()) {
            case KILL, OTHER_VERSION_AFTER_KILL -> {
                process(fault).kill();
                exchangeVersion(fault);
                await(fault.length());
            }
            case RESTART -> {
                stop(process(fault));
                await(fault.length());
            }
            case PAUSE -> {
                process(fault).pause();
                await(fault.length());
                process(fault).resume();
            }
            case REDEPLOY, OTHER_VERSION -> {
                exchangeVersion(fault);
                landscape.redeploy(fault.target().process());
            }
            case CUT -> breakConnections(fault, TcpProxy::cut);
            case BLACK_HOLE -> breakConnections(fault, TcpProxy::blackHole);
            case ADD_PARTITION -> landscape.partitions().add();
            case REVOKE, HIDE_ROWS -> breakRole(fault);
            case SAME_PARTITIONS, FEWER_PARTITIONS, MORE_PARTITIONS -> {
                return topic.run(fault, this::await);
            }
        }
        return true;
    }

    private void breakConnections(Fault fault, Consumer<TcpProxy> breaking) {
        landscape.proxies(fault.target()).forEach(breaking);
        await(fault.length());
        landscape.proxies(fault.target()).forEach(TcpProxy::heal);
    }

    private void exchangeVersion(Fault fault) {
        if (fault.target().process() != fault.target()) {
            landscape.versions().exchange(SoakLandscape.part(fault.target().process()));
        }
    }

    private void breakRole(Fault fault) {
        landscape.roles().breakFor(fault);
        Duration end = log.elapsed().plus(fault.length());
        boolean isNotReady = false;
        while (log.elapsed().compareTo(end) < 0 && !await(BETWEEN_QUESTIONS)) {
            isNotReady |= readiness.isOneNotReady(landscape.readiness(fault.target()));
        }
        landscape.roles().undo(fault);
        if (isNotReady) {
            noticed.incrementAndGet();
        }
    }

    /** As an orchestrator does: a process that does not stop in time is killed. */
    private static void stop(ChildProcess process) {
        try {
            process.stop();
        } catch (ChildProcessException e) {
            process.kill();
        }
    }

    private static boolean isProcess(Fault.Kind kind) {
        return switch (kind) {
            case KILL, RESTART, PAUSE, REDEPLOY, OTHER_VERSION, OTHER_VERSION_AFTER_KILL -> true;
            case CUT, BLACK_HOLE, ADD_PARTITION, REVOKE, HIDE_ROWS -> false;
            case SAME_PARTITIONS, FEWER_PARTITIONS, MORE_PARTITIONS -> false;
        };
    }

    private ChildProcess process(Fault fault) {
        return landscape.process(fault.target().process());
    }

    /** How many faults of roles a process reported by not being ready. */
    int noticed() {
        return noticed.get();
    }

    /** Waits, and returns whether the run is over. The end of the run cuts a fault short. */
    private boolean await(Duration time) {
        try {
            return stopped.await(time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    /** An error that no fault explains; null if there is none. */
    @Nullable String failure() {
        if (failure != null) {
            return failure;
        }
        List<Target> ended = landscape.ended().stream()
                .filter(target -> !disturbed.contains(target))
                // Its fault may have ended between the two checks.
                .filter(target -> !landscape.process(target).isAlive())
                .toList();
        return ended.isEmpty()
                ? null
                : "Ended without a fault: "
                        + ended.stream()
                                .map(target -> target + ", see "
                                        + landscape.process(target).logFile())
                                .toList();
    }

    /** Injects no further fault. Returns when the current ones are over and their targets work again. */
    void stop() {
        stopped.countDown();
        for (Thread lane : lanes) {
            try {
                lane.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted while waiting for the last faults", e);
            }
        }
    }
}
