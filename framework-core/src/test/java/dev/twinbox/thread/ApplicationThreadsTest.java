package dev.twinbox.thread;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ApplicationThreadsTest {

    @Test
    void theContextClassLoaderIsTheApplicationsAlsoIfTheServersThreadSetsAnother() throws Exception {
        ClassLoader application = new URLClassLoader("application", new URL[0], null);
        ClassLoader server = new URLClassLoader("server", new URL[0], null);
        ThreadFactory managed = task -> new Thread(() -> {
            Thread.currentThread().setContextClassLoader(server);
            task.run();
        });
        CompletableFuture<ClassLoader> seen = new CompletableFuture<>();

        new ApplicationThreads(managed, application)
                .newThread(() -> seen.complete(Thread.currentThread().getContextClassLoader()))
                .start();

        assertThat(seen.get(30, TimeUnit.SECONDS)).isSameAs(application);
    }
}
