package dev.twinbox.tracing;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import org.junit.jupiter.api.Test;

class TracingTest {

    /** A server without OpenTelemetry has our classes, but not its own. */
    private static final class WithoutOpenTelemetry extends URLClassLoader {
        WithoutOpenTelemetry() {
            super(new URL[] {Tracing.class.getProtectionDomain().getCodeSource().getLocation()}, null);
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            if (name.startsWith("dev.twinbox.")) {
                return super.findClass(name);
            }
            if (name.startsWith("io.opentelemetry.")) {
                throw new ClassNotFoundException(name);
            }
            return TracingTest.class.getClassLoader().loadClass(name);
        }
    }

    @Test
    void whereTheServerHasNoOpenTelemetryNothingIsTracedAndNothingBreaks() throws Exception {
        try (URLClassLoader server = new WithoutOpenTelemetry()) {
            Class<?> there = server.loadClass(Tracing.class.getName());

            Object tracing = there.getMethod("of", jakarta.enterprise.inject.Instance.class)
                    .invoke(null, (Object) null);

            assertThat(tracing.getClass().getSimpleName()).isEqualTo("NoTracing");
            assertThat(tracing.getClass().getClassLoader()).isSameAs(server);
        }
    }
}
