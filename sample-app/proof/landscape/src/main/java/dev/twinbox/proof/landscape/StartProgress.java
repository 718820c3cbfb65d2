package dev.twinbox.proof.landscape;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

/** The steps of a start. One thread at a time writes a step; any thread reads it. */
public final class StartProgress {

    private final Consumer<String> journal;
    private final List<Step> steps = new ArrayList<>();

    /** @param journal takes a line for each step that has ended */
    public StartProgress(Consumer<String> journal) {
        this.journal = journal;
    }

    /** Adds a step that waits until {@link Step#run}. Steps are listed in the order in which they are announced. */
    synchronized Step announce(String name) {
        Step step = new Step(name);
        steps.add(step);
        return step;
    }

    /** All steps, as they are now. */
    public synchronized List<View> views() {
        return steps.stream().map(Step::view).toList();
    }

    /**
     * A step at one moment.
     *
     * @param state one of waiting, running, ready, failed
     * @param seconds how long it has been running
     */
    public record View(String name, String state, double seconds) {}

    private enum State {
        WAITING,
        RUNNING,
        READY,
        FAILED
    }

    /** One thing that has to come up. */
    final class Step {
        private final String name;
        private State state = State.WAITING;
        private long startedAt;
        private long endedAt;

        private Step(String name) {
            this.name = name;
        }

        /** Runs the step. An exception marks it as failed and reaches the caller. */
        void run(Runnable work) {
            begin();
            try {
                work.run();
                end(State.READY);
            } catch (RuntimeException | Error e) {
                end(State.FAILED);
                throw e;
            }
            journal.accept(String.format(Locale.ROOT, "%s: ready after %.1f s", name, seconds()));
        }

        private synchronized void begin() {
            state = State.RUNNING;
            startedAt = System.nanoTime();
        }

        private synchronized void end(State reached) {
            state = reached;
            endedAt = System.nanoTime();
        }

        private synchronized double seconds() {
            return switch (state) {
                case WAITING -> 0;
                case RUNNING -> seconds(System.nanoTime());
                case READY, FAILED -> seconds(endedAt);
            };
        }

        private double seconds(long until) {
            return Duration.ofNanos(until - startedAt).toMillis() / 1000.0;
        }

        private synchronized View view() {
            return new View(name, state.name().toLowerCase(Locale.ROOT), seconds());
        }
    }
}
