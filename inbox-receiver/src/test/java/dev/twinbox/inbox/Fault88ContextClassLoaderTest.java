package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.InboxHandler;
import dev.twinbox.fixtures.ForeignLoader;
import jakarta.enterprise.inject.spi.AfterDeploymentValidation;
import jakarta.enterprise.inject.spi.AnnotatedType;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.enterprise.inject.spi.ProcessAnnotatedType;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * While GlassFish deploys an EAR, the thread's context class loader is not that of the WAR which has Twinbox and
 * Kafka's client. Here the application is a class loader, and the server is one that finds nothing of the application.
 */
class Fault88ContextClassLoaderTest {

    private static final String CONFIGURATION = """
            twinbox.inbox.group=group-of-the-war
            twinbox.inbox.data-source=jdbc/twinbox
            twinbox.inbox.kafka.bootstrap.servers=127.0.0.1:9092
            """;

    private static final class Handlers {
        @InboxHandler(topic = "t", type = "y")
        public void handle(byte[] event) {}
    }

    /** Runs within the application's class loader. Kafka's classes are initialized by it. */
    public static final class Deployment implements Supplier<String> {

        @Override
        public String get() {
            InboxExtension extension = new InboxExtension();
            AnnotatedType<?> handlers = answering(AnnotatedType.class, Map.of("getJavaClass", Handlers.class));
            extension.noteAnnotatedClass(answering(ProcessAnnotatedType.class, Map.of("getAnnotatedType", handlers)));
            extension.validate(
                    answering(AfterDeploymentValidation.class, Map.of()), answering(BeanManager.class, Map.of()));
            return extension.config().group();
        }

        /** An event or a part of it, with its answers by the name of the method. */
        private static <T> T answering(Class<T> type, Map<String, ?> answers) {
            return type.cast(Proxy.newProxyInstance(
                    type.getClassLoader(),
                    new Class<?>[] {type},
                    (proxy, method, arguments) -> answers.get(method.getName())));
        }
    }

    @Test
    void configurationAndKafkaAreThoseOfTheApplication(@TempDir Path war) throws Exception {
        Files.writeString(
                Files.createDirectories(war.resolve("META-INF")).resolve("microprofile-config.properties"),
                CONFIGURATION);

        assertThat(ForeignLoader.run(Deployment.class, war)).isEqualTo("group-of-the-war");
    }
}
