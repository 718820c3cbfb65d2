package dev.twinbox.thread;

import java.util.concurrent.ThreadFactory;

/**
 * Makes threads whose context class loader is the application's. Not each server sets it for managed threads, and
 * libraries load their plug-ins by it, as Kafka's client does.
 */
public final class ApplicationThreads implements ThreadFactory {

    private final ThreadFactory threads;
    private final ClassLoader application;

    public ApplicationThreads(ThreadFactory threads, ClassLoader application) {
        this.threads = threads;
        this.application = application;
    }

    @Override
    public Thread newThread(Runnable task) {
        // Set by the thread itself: a managed one may set its own when it begins to run.
        return threads.newThread(() -> {
            Thread.currentThread().setContextClassLoader(application);
            task.run();
        });
    }
}
