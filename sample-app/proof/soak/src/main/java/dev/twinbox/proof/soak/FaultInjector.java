package dev.twinbox.proof.soak;

import dev.twinbox.fixtures.ChildProcess;
import dev.twinbox.fixtures.ChildProcessException;
import dev.twinbox.fixtures.TcpProxy;
import dev.twinbox.proof.soak.Fault.Target;
import dev.twinbox.proof.soak.FaultSchedule.Lane;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Injects the faults of a schedule, each lane in its own thread, and restores the targets. */
final class FaultInjector {

    private final SoakLandscape landscape;
    private final FaultLog log;
    private final List<Thread> lanes = new ArrayList<>();
    private final Set<Target> disturbed = ConcurrentHashMap.newKeySet();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private volatile @Nullable String failure;

    FaultInjector(SoakLandscape landscape, FaultLog log, List<Fault> faults) {
        this.landscape = landscape;
        this.log = log;
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
        disturbed.add(fault.target());
        Duration begun = log.elapsed();
        switch (fault.kind()) {
            case KILL -> {
                process(fault).kill();
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
            case REDEPLOY -> landscape.redeploy(fault.target());
            case CUT -> {
                landscape.proxies(fault.target()).forEach(TcpProxy::cut);
                await(fault.length());
                landscape.proxies(fault.target()).forEach(TcpProxy::heal);
            }
            case BLACK_HOLE -> {
                landscape.proxies(fault.target()).forEach(TcpProxy::blackHole);
                await(fault.length());
                landscape.proxies(fault.target()).forEach(TcpProxy::heal);
            }
            case ADD_PARTITION -> landscape.partitions().add();
        }
        Duration ended = log.elapsed();
        if (isProcess(fault.kind())) {
            landscape.bringUp(fault.target());
        }
        log.fault(fault, begun, ended, log.elapsed());
        disturbed.remove(fault.target());
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
            case KILL, RESTART, PAUSE, REDEPLOY -> true;
            case CUT, BLACK_HOLE, ADD_PARTITION -> false;
        };
    }

    private ChildProcess process(Fault fault) {
        return landscape.process(fault.target());
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
