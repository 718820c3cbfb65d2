package dev.twinbox.proof.servers;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Builds the WAR: the classes of the application, Twinbox's two libraries and the Kafka client. No JDBC driver. */
final class WarFile {

    private static final List<Class<?>> LIBRARIES = List.of(
            dev.twinbox.OutboxPublisher.class,
            dev.twinbox.inbox.InboxStatus.class,
            org.apache.kafka.clients.consumer.KafkaConsumer.class,
            org.slf4j.Logger.class,
            com.github.f4b6a3.uuid.UuidCreator.class,
            org.jspecify.annotations.NullMarked.class);

    private WarFile() {}

    /** @param configuration of MicroProfile Config */
    static Path build(String name, String dataSource, String configuration) throws IOException {
        Path file = Files.createDirectories(Path.of("target", "wars"))
                .resolve(name + ".war")
                .toAbsolutePath();
        try (OutputStream out = Files.newOutputStream(file);
                ZipOutputStream war = new ZipOutputStream(out)) {
            addClasses(war);
            for (Class<?> library : LIBRARIES) {
                addLibrary(war, location(library));
            }
            add(war, "WEB-INF/classes/META-INF/microprofile-config.properties", configuration);
            add(war, "WEB-INF/beans.xml", """
                    <beans xmlns="https://jakarta.ee/xml/ns/jakartaee" version="4.0" bean-discovery-mode="annotated"/>
                    """);
            add(war, "WEB-INF/classes/META-INF/persistence.xml", """
                    <persistence xmlns="https://jakarta.ee/xml/ns/persistence" version="3.0">
                      <persistence-unit name="main">
                        <jta-data-source>%s</jta-data-source>
                      </persistence-unit>
                    </persistence>
                    """.formatted(dataSource));
            add(war, "WEB-INF/classes/META-INF/batch-jobs/work.xml", """
                    <job id="work" xmlns="https://jakarta.ee/xml/ns/jakartaee" version="2.0">
                      <listeners>
                        <listener ref="batchEnd">
                          <properties><property name="task" value="#{jobParameters['task']}"/></properties>
                        </listener>
                      </listeners>
                      <step id="work">
                        <chunk item-count="1">
                          <reader ref="batchReader">
                            <properties><property name="task" value="#{jobParameters['task']}"/></properties>
                          </reader>
                          <writer ref="batchWriter"/>
                        </chunk>
                      </step>
                    </job>
                    """);
        }
        return file;
    }

    private static void addClasses(ZipOutputStream war) throws IOException {
        Path root = location(WarFile.class);
        try (Stream<Path> classes = Files.walk(root.resolve("dev/twinbox/proof/servers/app"))) {
            for (Path each : classes.filter(Files::isRegularFile).toList()) {
                add(war, "WEB-INF/classes/" + root.relativize(each), Files.readAllBytes(each));
            }
        }
    }

    private static void addLibrary(ZipOutputStream war, Path jar) throws IOException {
        if (!Files.isRegularFile(jar)) {
            throw new IllegalStateException(jar + " is no jar: run the build to the phase \"package\" at least");
        }
        add(war, "WEB-INF/lib/" + jar.getFileName(), Files.readAllBytes(jar));
    }

    private static void add(ZipOutputStream war, String name, String text) throws IOException {
        add(war, name, text.getBytes(StandardCharsets.UTF_8));
    }

    private static void add(ZipOutputStream war, String name, byte[] content) throws IOException {
        war.putNextEntry(new ZipEntry(name));
        war.write(content);
        war.closeEntry();
    }

    static Path location(Class<?> type) {
        try {
            return Path.of(
                    type.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
