package dev.twinbox.proof.servers.app;

import jakarta.batch.operations.JobOperator;
import jakarta.batch.runtime.BatchRuntime;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** A transaction that a step of Jakarta Batch begins: the chunk of {@code META-INF/batch-jobs/work.xml}. */
final class BatchJob {

    private static final long LIMIT_SECONDS = 120;

    private record Task(Runnable work, Ending ending, CompletableFuture<Void> end) {}

    private static final Map<String, Task> TASKS = new ConcurrentHashMap<>();

    private BatchJob() {}

    /** Returns when the job has ended. */
    static void run(Runnable work, Ending ending) throws Exception {
        String id = UUID.randomUUID().toString();
        Task task = new Task(work, ending, new CompletableFuture<>());
        TASKS.put(id, task);
        Properties parameters = new Properties();
        parameters.setProperty("task", id);
        JobOperator operator = BatchRuntime.getJobOperator();
        operator.start("work", parameters);
        task.end().get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    static void write(String id) {
        Task task = TASKS.get(id);
        task.work().run();
        if (task.ending() != Ending.COMMIT) {
            throw new Undone();
        }
    }

    static void ended(String id) {
        TASKS.remove(id).end().complete(null);
    }
}
