package dev.twinbox.thread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URL;
import java.net.URLClassLoader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ContextClassLoaderTest {

    private static final ClassLoader OWN = ContextClassLoader.class.getClassLoader();
    private static final URL[] NOTHING = {};

    private final Thread thread = Thread.currentThread();
    private final ClassLoader before = thread.getContextClassLoader();

    @AfterEach
    void restore() {
        thread.setContextClassLoader(before);
    }

    @Test
    void aLoaderThatDoesNotFindTheClassIsReplacedUntilTheTaskHasEnded() {
        ClassLoader server = new URLClassLoader("server", NOTHING, null);
        thread.setContextClassLoader(server);

        assertThat(seen()).isSameAs(OWN);
        assertThat(thread.getContextClassLoader()).isSameAs(server);

        assertThatThrownBy(() -> ContextClassLoader.run(ContextClassLoader.class, () -> {
                    throw new IllegalStateException("wrong");
                }))
                .hasMessage("wrong");
        assertThat(thread.getContextClassLoader()).isSameAs(server);
    }

    /** Another application has the same library. */
    @Test
    void aLoaderThatFindsAnotherClassOfThatNameIsReplaced() {
        URL classes =
                ContextClassLoader.class.getProtectionDomain().getCodeSource().getLocation();
        thread.setContextClassLoader(new URLClassLoader("other", new URL[] {classes}, null));

        assertThat(seen()).isSameAs(OWN);
    }

    @Test
    void noLoaderAtAllIsReplaced() {
        thread.setContextClassLoader(null);

        assertThat(seen()).isSameAs(OWN);
    }

    /** It is a module's, and Twinbox belongs to the whole application. */
    @Test
    void aLoaderThatFindsTheClassStays() {
        ClassLoader module = new URLClassLoader("module", NOTHING, OWN);
        thread.setContextClassLoader(module);

        assertThat(seen()).isSameAs(module);
    }

    private ClassLoader seen() {
        return ContextClassLoader.call(ContextClassLoader.class, thread::getContextClassLoader);
    }
}
