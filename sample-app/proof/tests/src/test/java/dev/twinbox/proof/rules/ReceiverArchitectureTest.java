package dev.twinbox.proof.rules;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** What the receiver keeps apart. {@link ArchitectureTest} has the order of its packages. */
class ReceiverArchitectureTest {

    private static final Path ROOT = Path.of(System.getProperty("twinbox.root"));

    private static final JavaClasses RECEIVER = read("inbox-receiver", "inbox-receiver/cli");

    private static final JavaClasses SAMPLE = read("sample-app/orders", "sample-app/shipping", "sample-app/demo");

    @Test
    void theLibraryKnowsNothingOfCommandLinesAndMigrations() {
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.twinbox.inbox.cli..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("picocli..", "org.flywaydb..", "org.postgresql..")
                .check(RECEIVER);
    }

    @Test
    void onlyTheRoomsOfTheTablesAndOfTheDataSourceSpeakSQL() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "dev.twinbox.inbox.event..",
                        "dev.twinbox.inbox.config..",
                        "dev.twinbox.inbox.cli..",
                        "dev.twinbox.inbox.console..")
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName("java.sql.PreparedStatement")
                .check(RECEIVER);
    }

    @Test
    void theSampleSeesTheFirstRoomOnly() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "dev.twinbox.inbox.engine..",
                        "dev.twinbox.inbox.kafka..",
                        "dev.twinbox.inbox.config..",
                        "dev.twinbox.inbox.jdbc..",
                        "dev.twinbox.inbox.event..",
                        "dev.twinbox.inbox.cli..")
                .check(SAMPLE);
    }

    private static JavaClasses read(String... modules) {
        return new ClassFileImporter()
                .importPaths(Arrays.stream(modules)
                        .map(module -> ROOT.resolve(module).resolve("target/classes"))
                        .toList());
    }
}
