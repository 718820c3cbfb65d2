package dev.twinbox.proof.landscape;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The steps of the start, as the page shows them. Each step is written by one thread and read by the page. */
final class StartProgress {

    private final Journal journal;
    private final List<Step> steps = new ArrayList<>();

    StartProgress(Journal journal) {
        this.journal = journal;
    }

    /** Announces a step, in the order in which the page lists them; it waits until it {@link Step#run}s. */
    synchronized Step announce(String name) {
        Step step = new Step(name);
        steps.add(step);
        return step;
    }

    synchronized List<View> views() {
        return steps.stream().map(Step::view).toList();
    }

    /** What the page gets: state is one of waiting, running, ready, failed. */
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

        /** Does the work of this step; whatever it throws marks the step as failed and goes on to the caller. */
        void run(Runnable work) {
            begin();
            try {
                work.run();
                end(State.READY);
            } catch (RuntimeException | Error e) {
                end(State.FAILED);
                throw e;
            }
            journal.write(String.format(Locale.ROOT, "%s: ready after %.1f s", name, seconds()));
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
