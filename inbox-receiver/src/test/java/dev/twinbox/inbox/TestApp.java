package dev.twinbox.inbox;

import dev.twinbox.EventSerializer;
import dev.twinbox.fixtures.CodeLocation;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.inbox.app.Order;
import dev.twinbox.inbox.app.Script;
import dev.twinbox.inbox.app.StatusServlet;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.jboss.shrinkwrap.api.ShrinkWrap;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.jboss.shrinkwrap.api.exporter.ZipExporter;
import org.jboss.shrinkwrap.api.spec.EnterpriseArchive;
import org.jboss.shrinkwrap.api.spec.JavaArchive;
import org.jboss.shrinkwrap.api.spec.WebArchive;

/** Builds WARs with handlers. */
final class TestApp {

    private final String name;
    private final WebArchive war;
    private final Map<String, String> config = new TreeMap<>();
    private String locksUrl;

    TestApp(String name, String database) {
        this(name, database, Servers.postgres().user(), Servers.postgres().password());
    }

    TestApp(String name, String database, String user, String password) {
        this.name = name;
        war = ShrinkWrap.create(WebArchive.class, name + ".war")
                .addClasses(Order.class, Script.class, Script.BusinessException.class, StatusServlet.class)
                .addClasses(Script.InvalidException.class, Script.UnknownCustomerException.class)
                .addClasses(Script.ServiceAwayException.class, StatusServlet.Housekeeping.class)
                .addAsWebInfResource(
                        new StringAsset("<beans version=\"4.0\" bean-discovery-mode=\"annotated\"/>"), "beans.xml")
                .addAsLibraries(library(EventSerializer.class), library(InboxStatus.class))
                .addAsLibraries(
                        file(KafkaConsumer.class), file(org.slf4j.Logger.class), file(org.postgresql.Driver.class))
                .addAsLibraries(
                        file(org.slf4j.jul.JDK14LoggerAdapter.class),
                        file(com.github.f4b6a3.uuid.UuidCreator.class),
                        file(org.jspecify.annotations.NullMarked.class));
        PostgresServer postgres = Servers.postgres();
        with("twinbox.inbox.group", name);
        with("twinbox.inbox.data-source", "java:app/jdbc/inbox");
        with("twinbox.inbox.kafka.bootstrap.servers", Servers.kafka().bootstrapServers());
        with("twinbox.inbox.retry.max", "PT0.5S");
        // Long, so that a machine that stands still for some seconds does not split a batch in tests of other things.
        with("twinbox.inbox.batch.max-time", "PT60S");
        with(
                "test.jdbc.url",
                postgres.jdbcUrl(database) + (postgres.jdbcUrl(database).contains("?") ? "&" : "?") + "user=" + user
                        + "&password=" + password);
        with("test.instance", name);
    }

    TestApp with(String key, String value) {
        config.put(key, value);
        return this;
    }

    /** The application also publishes, to the same database. */
    TestApp withOutbox() {
        return with("twinbox.outbox.data-source", "java:app/jdbc/inbox").with("twinbox.outbox.source", "/tests");
    }

    /** For the example of a single flight. */
    TestApp withCaffeine() {
        war.addAsLibraries(file(com.github.benmanes.caffeine.cache.Caffeine.class));
        return this;
    }

    /** Leases of locks are in Redis. */
    TestApp withRedis(String url) {
        war.addAsLibraries(
                file(redis.clients.jedis.UnifiedJedis.class),
                file(redis.clients.authentication.core.Token.class),
                file(org.apache.commons.pool2.ObjectPool.class),
                file(com.google.gson.Gson.class),
                file(org.json.JSONObject.class));
        return with("twinbox.locks", "redis").with("twinbox.locks.redis.url", url);
    }

    /** The receiver's transactions time out. Payara ignores a default that is changed while it runs. */
    TestApp withTransactionTimeout(int seconds) {
        war.addAsWebInfResource(new StringAsset("""
                <!DOCTYPE glassfish-ejb-jar PUBLIC
                  "-//GlassFish.org//DTD GlassFish Application Server 3.1 EJB 3.1//EN"
                  "http://glassfish.org/dtds/glassfish-ejb-jar_3_1-1.dtd">
                <glassfish-ejb-jar>
                  <enterprise-beans>
                    <ejb>
                      <ejb-name>NewTransaction</ejb-name>
                      <cmt-timeout-in-seconds>%d</cmt-timeout-in-seconds>
                    </ejb>
                  </enterprise-beans>
                </glassfish-ejb-jar>
                """.formatted(seconds)), "glassfish-ejb-jar.xml");
        return this;
    }

    TestApp with(Class<?>... classes) {
        war.addClasses(classes);
        return this;
    }

    TestApp withEjbJarXml(String xml) {
        war.addAsWebInfResource(new StringAsset(xml), "ejb-jar.xml");
        return this;
    }

    String name() {
        return name;
    }

    WebArchive archive() {
        return war.addAsResource(
                        new StringAsset(config.entrySet().stream()
                                .map(e -> e.getKey() + "=" + e.getValue().replace("\\", "\\\\"))
                                .collect(Collectors.joining("\n"))),
                        "META-INF/microprofile-config.properties")
                .setWebXML(new StringAsset(webXml()));
    }

    Path build() {
        Path file = folder().resolve(name + ".war").toAbsolutePath();
        archive().as(ZipExporter.class).exportTo(file.toFile(), true);
        return file;
    }

    /** Builds an EAR with the same libraries, whose only module has the application's classes and is no WAR. */
    Path buildEarWithoutWar() {
        WebArchive complete = archive();
        JavaArchive ejbs = ShrinkWrap.create(JavaArchive.class, name + "-ejb.jar")
                .addAsManifestResource(new StringAsset("<beans version=\"4.0\"/>"), "beans.xml");
        EnterpriseArchive ear = ShrinkWrap.create(EnterpriseArchive.class, name + ".ear");
        complete.getContent().forEach((path, node) -> {
            String at = path.get();
            if (at.startsWith("/WEB-INF/lib/") && node.getAsset() != null) {
                ear.addAsLibrary(node.getAsset(), at.substring("/WEB-INF/lib/".length()));
            } else if (at.startsWith("/WEB-INF/classes/") && node.getAsset() != null) {
                ejbs.add(node.getAsset(), at.substring("/WEB-INF/classes".length()));
            }
        });
        Path file = folder().resolve(name + ".ear").toAbsolutePath();
        ear.addAsModule(ejbs).as(ZipExporter.class).exportTo(file.toFile(), true);
        return file;
    }

    /** A folder of this JVM, because another JVM may build applications of the same names. */
    private static Path folder() {
        try {
            return Files.createDirectories(Path.of(
                    "target", "wars", Long.toString(ProcessHandle.current().pid())));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String webXml() {
        return """
                <web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0">
                  <data-source>
                    <name>java:app/jdbc/inbox</name>
                    <class-name>org.postgresql.xa.PGXADataSource</class-name>
                    <url>%s</url>
                    <initial-pool-size>1</initial-pool-size>
                    <max-pool-size>10</max-pool-size>
                  </data-source>
                  %s
                </web-app>
                """.formatted(
                        config.get("test.jdbc.url").replace("&", "&amp;"),
                        locksUrl == null ? "" : """
                        <data-source>
                          <name>java:app/jdbc/locks</name>
                          <class-name>org.postgresql.xa.PGXADataSource</class-name>
                          <url>%s</url>
                          <initial-pool-size>1</initial-pool-size>
                          <max-pool-size>10</max-pool-size>
                        </data-source>""".formatted(locksUrl.replace("&", "&amp;")));
    }

    /** Locks have a data source of their own, to the same tables. */
    TestApp withLocksAt(String url) {
        locksUrl = url;
        return with("twinbox.locks.data-source", "java:app/jdbc/locks").with("twinbox.locks.table", "inbox_lock");
    }

    /** A jar, or classes of the build that are not packed yet. */
    private static JavaArchive library(Class<?> type) {
        File file = file(type);
        if (file.isFile()) {
            return ShrinkWrap.createFromZipFile(JavaArchive.class, file);
        }
        return ShrinkWrap.create(JavaArchive.class, type.getPackageName() + ".jar")
                .as(org.jboss.shrinkwrap.api.importer.ExplodedImporter.class)
                .importDirectory(file)
                .as(JavaArchive.class);
    }

    private static File file(Class<?> type) {
        return CodeLocation.of(type).toFile();
    }
}
