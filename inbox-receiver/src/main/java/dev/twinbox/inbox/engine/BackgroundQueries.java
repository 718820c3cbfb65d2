package dev.twinbox.inbox.engine;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * Asks Kafka and the database on another thread. The poll thread applies the answers. So a database or a broker that
 * does not answer never costs the group membership.
 */
final class BackgroundQueries {

    private static final Logger LOG = System.getLogger(BackgroundQueries.class.getName());

    private final Executor background;
    private final Runnable whenAnswered;

    /** Written by the other thread, emptied by the poll thread. */
    private final Queue<Runnable> answers = new ConcurrentLinkedQueue<>();

    /** @param whenAnswered called on the other thread as soon as an answer is there */
    BackgroundQueries(Executor background, Runnable whenAnswered) {
        this.background = background;
        this.whenAnswered = whenAnswered;
    }

    /** Asks. One of the two consumers is called later, by {@link #applyAnswers}. */
    <T> void ask(Callable<T> question, Consumer<T> onAnswer, Consumer<Throwable> onFailure) {
        try {
            background.execute(() -> {
                answers.add(answer(question, onAnswer, onFailure));
                whenAnswered.run();
            });
        } catch (RejectedExecutionException e) {
            LOG.log(Level.DEBUG, "The receiver stops; a question is not asked", e);
        }
    }

    private static <T> Runnable answer(Callable<T> question, Consumer<T> onAnswer, Consumer<Throwable> onFailure) {
        try {
            T answer = question.call();
            return () -> onAnswer.accept(answer);
        } catch (Exception | Error e) {
            return () -> onFailure.accept(e);
        }
    }

    boolean hasAnswers() {
        return !answers.isEmpty();
    }

    /** Applies all answers that are there. Called on the poll thread. */
    void applyAnswers() {
        for (Runnable answer = answers.poll(); answer != null; answer = answers.poll()) {
            answer.run();
        }
    }
}
