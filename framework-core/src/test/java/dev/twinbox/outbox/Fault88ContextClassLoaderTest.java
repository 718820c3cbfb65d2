package dev.twinbox.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.ForeignLoader;
import dev.twinbox.lock.LockExtension;
import jakarta.enterprise.inject.spi.AfterDeploymentValidation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * While GlassFish deploys an EAR, the thread's context class loader is not that of the WAR which has Twinbox. Here the
 * application is a class loader, and the server is one that finds nothing of the application.
 */
class Fault88ContextClassLoaderTest {

    private static final String CONFIGURATION = """
            twinbox.outbox.data-source=jdbc/twinbox
            twinbox.locks.not-a-key=1
            """;

    private static final String UNITS = """
            <persistence xmlns="https://jakarta.ee/xml/ns/persistence" version="3.0">
              <persistence-unit name="local" transaction-type="RESOURCE_LOCAL">
                <non-jta-data-source>jdbc/twinbox</non-jta-data-source>
              </persistence-unit>
            </persistence>
            """;

    /** Runs within the application's class loader. */
    public static final class Deployment implements Supplier<String> {

        @Override
        public String get() {
            List<String> problems = new ArrayList<>();
            AfterDeploymentValidation event = (AfterDeploymentValidation) Proxy.newProxyInstance(
                    AfterDeploymentValidation.class.getClassLoader(),
                    new Class<?>[] {AfterDeploymentValidation.class},
                    (proxy, method, arguments) -> {
                        problems.add(((Throwable) arguments[0]).getMessage());
                        return null;
                    });
            new OutboxExtension().validate(event);
            validate(new LockExtension(), event);
            return String.join("\n", problems);
        }

        private static void validate(LockExtension locks, AfterDeploymentValidation event) {
            try {
                Method validate = LockExtension.class.getDeclaredMethod("validate", AfterDeploymentValidation.class);
                validate.setAccessible(true);
                validate.invoke(locks, event);
            } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Test
    void configurationAndPersistenceUnitsAreThoseOfTheApplication(@TempDir Path war) throws Exception {
        Path metaInf = Files.createDirectories(war.resolve("META-INF"));
        Files.writeString(metaInf.resolve("microprofile-config.properties"), CONFIGURATION);
        Files.writeString(metaInf.resolve("persistence.xml"), UNITS);

        assertThat(ForeignLoader.run(Deployment.class, war))
                .contains("persistence unit \"local\" uses the outbox's data source jdbc/twinbox outside of JTA")
                .contains("twinbox.locks.not-a-key");
    }
}
