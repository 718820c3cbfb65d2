package dev.twinbox.proof.servers;

import dev.twinbox.fixtures.CodeLocation;
import java.io.IOException;
import java.io.OutputStream;
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

    private static final List<Class<?>> HIBERNATE = List.of(
            org.hibernate.Session.class,
            org.hibernate.annotations.common.reflection.ReflectionManager.class,
            org.jboss.logging.Logger.class,
            org.jboss.jandex.Index.class,
            com.fasterxml.classmate.TypeResolver.class,
            net.bytebuddy.ByteBuddy.class,
            org.antlr.v4.runtime.Parser.class);

    private static final String HIBERNATE_PROVIDER =
            "<provider>org.hibernate.jpa.HibernatePersistenceProvider</provider>";

    private WarFile() {}

    /**
     * The application with a persistence unit.
     *
     * @param file of which the name is the context root
     * @param configuration of MicroProfile Config
     */
    static Path build(Path file, String dataSource, String configuration) throws IOException {
        return build(file, "app", configuration, war -> addPersistenceAndBatch(war, dataSource, ""));
    }

    /**
     * As {@link #build}, with Hibernate in the WAR instead of the server's JPA provider.
     *
     * @param platform Hibernate's name of the server's transactions
     * @param hibernate its jars
     */
    static Path buildWithHibernate(
            Path file, String dataSource, String configuration, String platform, List<Path> hibernate)
            throws IOException {
        return build(file, "app", configuration, war -> {
            addPersistenceAndBatch(war, dataSource, """
                    <!-- WildFly does not look for the entities of a provider in the WAR. -->
                    <class>dev.twinbox.proof.servers.app.Account</class>
                    <class>dev.twinbox.proof.servers.app.Business</class>
                    <class>dev.twinbox.proof.servers.app.Effect</class>
                    <properties>
                      <property name="jboss.as.jpa.providerModule" value="application"/>
                      <property name="hibernate.transaction.jta.platform" value="%s"/>
                      <property name="hibernate.enhancer.enableDirtyTracking" value="false"/>
                      <property name="hibernate.enhancer.enableLazyInitialization" value="false"/>
                    </properties>
                    """.formatted(platform));
            addLibraries(war, hibernate);
        });
    }

    /** Hibernate 6.6, for Jakarta Persistence 3.1. */
    static List<Path> hibernate6() {
        return jars(HIBERNATE);
    }

    /** Hibernate 7, for Jakarta Persistence 3.2. Two versions cannot be on one class path, so Maven copies this one. */
    static List<Path> hibernate7() throws IOException {
        return copied("hibernate7");
    }

    private static List<Path> copied(String folder) throws IOException {
        try (Stream<Path> copied = Files.list(Path.of("target", folder))) {
            return copied.toList();
        }
    }

    /** The application without JPA. */
    static Path buildPlain(Path file, String configuration) throws IOException {
        return build(file, "plain", configuration, war -> {});
    }

    /** As {@link #buildPlain}, with Johnzon in the WAR, and with what a server has for a library of its own to give way. */
    static Path buildWithJohnzon(Path file, String configuration) throws IOException {
        return build(file, "plain", configuration, war -> {
            addLibraries(war, copied("johnzon"));
            add(war, "WEB-INF/jboss-deployment-structure.xml", """
                    <jboss-deployment-structure>
                      <deployment>
                        <exclusions>
                          <module name="org.eclipse.yasson"/>
                          <module name="org.eclipse.parsson"/>
                        </exclusions>
                      </deployment>
                    </jboss-deployment-structure>
                    """);
            add(war, "WEB-INF/glassfish-web.xml", """
                    <glassfish-web-app>
                      <class-loader delegate="false"/>
                    </glassfish-web-app>
                    """);
        });
    }

    private interface Part {
        void addTo(ZipOutputStream war) throws IOException;
    }

    private static Path build(Path file, String classes, String configuration, Part more) throws IOException {
        try (OutputStream out = Files.newOutputStream(file);
                ZipOutputStream war = new ZipOutputStream(out)) {
            addClasses(war, classes);
            addLibraries(war, libraries());
            add(war, "WEB-INF/classes/META-INF/microprofile-config.properties", configuration);
            add(war, "WEB-INF/beans.xml", """
                    <beans xmlns="https://jakarta.ee/xml/ns/jakartaee" version="4.0" bean-discovery-mode="annotated"/>
                    """);
            more.addTo(war);
        }
        return file;
    }

    private static void addPersistenceAndBatch(ZipOutputStream war, String dataSource, String more) throws IOException {
        add(war, "WEB-INF/classes/META-INF/persistence.xml", """
                    <persistence xmlns="https://jakarta.ee/xml/ns/persistence" version="3.0">
                      <persistence-unit name="main">
                        %s
                        <jta-data-source>%s</jta-data-source>
                        %s
                      </persistence-unit>
                    </persistence>
                    """.formatted(
                        more.isEmpty() ? "" : HIBERNATE_PROVIDER, dataSource, more));
        add(war, "WEB-INF/classes/META-INF/batch-jobs/work.xml", """
                    <job id="work" xmlns="https://jakarta.ee/xml/ns/jakartaee" version="2.0">
                      <listeners>
                        <listener ref="batchEnd">
                          <properties><property name="task" value="#{jobParameters['task']}"/></properties>
                        </listener>
                      </listeners>
                      <step id="chunk">
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

    private static void addLibraries(ZipOutputStream war, List<Path> libraries) throws IOException {
        for (Path library : libraries) {
            add(war, "WEB-INF/lib/" + library.getFileName(), Files.readAllBytes(library));
        }
    }

    private static void addClasses(ZipOutputStream war, String folder) throws IOException {
        for (Path each : classes(folder)) {
            add(war, "WEB-INF/classes/" + nameOf(each), Files.readAllBytes(each));
        }
    }

    /** The compiled classes of an application. */
    static List<Path> classes(String folder) throws IOException {
        Path root = CodeLocation.of(WarFile.class)
                .resolve("dev/twinbox/proof/servers")
                .resolve(folder);
        try (Stream<Path> classes = Files.walk(root)) {
            return classes.filter(Files::isRegularFile).toList();
        }
    }

    /** The name of a compiled class in an archive. */
    static String nameOf(Path classFile) {
        return CodeLocation.of(WarFile.class).relativize(classFile).toString();
    }

    /** Twinbox's two libraries, and what they need. */
    static List<Path> libraries() {
        return jars(LIBRARIES);
    }

    private static List<Path> jars(List<Class<?>> types) {
        List<Path> jars = types.stream().map(CodeLocation::of).toList();
        for (Path jar : jars) {
            if (!Files.isRegularFile(jar)) {
                throw new IllegalStateException(jar + " is no jar: run the build to the phase \"package\" at least");
            }
        }
        return jars;
    }

    private static void add(ZipOutputStream war, String name, String text) throws IOException {
        add(war, name, text.getBytes(StandardCharsets.UTF_8));
    }

    private static void add(ZipOutputStream war, String name, byte[] content) throws IOException {
        war.putNextEntry(new ZipEntry(name));
        war.write(content);
        war.closeEntry();
    }
}
