package dev.twinbox.thread;

import java.util.function.Supplier;

/**
 * Runs code whose libraries look for classes by the thread's context class loader: Kafka's client for its plug-ins,
 * MicroProfile Config for its files, JSON-B for its provider.
 *
 * <p>While an application is deployed this is not always the application's loader. On GlassFish it is another one when
 * the WAR is part of an EAR.
 */
public final class ContextClassLoader {

    private ContextClassLoader() {}

    /**
     * Runs a task on this thread. If the thread's context class loader does not find the class, the class's own loader
     * takes its place until the task has ended.
     *
     * @param ours a class of Twinbox, which each loader of this application finds
     * @return what the task returns
     */
    public static <T> T call(Class<?> ours, Supplier<T> task) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        if (finds(before, ours)) {
            return task.get();
        }
        thread.setContextClassLoader(ours.getClassLoader());
        try {
            return task.get();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /** As {@link #call}, without a result. */
    public static void run(Class<?> ours, Runnable task) {
        call(ours, () -> {
            task.run();
            return true;
        });
    }

    /** Another application on this server may have a class of the same name. */
    private static boolean finds(ClassLoader loader, Class<?> ours) {
        try {
            return Class.forName(ours.getName(), false, loader) == ours;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }
}
