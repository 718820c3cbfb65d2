package dev.twinbox.it;

import java.io.File;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Predicate;
import org.jboss.shrinkwrap.api.ShrinkWrap;
import org.jboss.shrinkwrap.api.asset.EmptyAsset;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.jboss.shrinkwrap.api.spec.WebArchive;

/** Builds WARs of this module's real jar and the libraries that the build copied. */
final class TestWar {

    private TestWar() {}

    /** A WAR with Twinbox, the PostgreSQL driver and the assertion libraries. */
    static WebArchive named(String name, String configuration) {
        return ShrinkWrap.create(WebArchive.class, name + ".war")
                .addAsLibraries(new File(System.getProperty("twinbox.it.coreJar")))
                .addAsLibraries(libraries(
                        "uuid-creator-", "postgresql-", "assertj-", "byte-buddy-", "awaitility-", "hamcrest-"))
                .addAsResource(new StringAsset(configuration), "META-INF/microprofile-config.properties")
                .addAsWebInfResource(EmptyAsset.INSTANCE, "beans.xml");
    }

    static File[] hibernate() {
        return libraries("hibernate-", "jboss-logging-", "jandex-", "classmate-", "antlr4-");
    }

    /** Jedis and what it needs. */
    static File[] jedis() {
        return libraries("jedis-", "commons-pool2-", "gson-", "json-", "redis-authx-", "slf4j-api-");
    }

    private static File[] libraries(String... prefixes) {
        File[] all =
                Path.of(System.getProperty("twinbox.it.libraries")).toFile().listFiles();
        Predicate<File> wanted = file -> Arrays.stream(prefixes).anyMatch(file.getName()::startsWith);
        return Arrays.stream(all).filter(wanted).toArray(File[]::new);
    }
}
