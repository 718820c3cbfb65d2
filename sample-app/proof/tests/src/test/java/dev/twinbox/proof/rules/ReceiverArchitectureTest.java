package dev.twinbox.proof.rules;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** The rooms of the receiver: each sees those below it, and an application sees the first one only. */
class ReceiverArchitectureTest {

    private static final Path ROOT = Path.of(System.getProperty("twinbox.root"));

    private static final JavaClasses RECEIVER = read("inbox-receiver", "inbox-receiver/cli");

    private static final JavaClasses SAMPLE = read("sample-app/orders", "sample-app/shipping", "sample-app/demo");

    @Test
    void each_room_of_the_receiver_sees_only_those_below_it() {
        layeredArchitecture()
                .consideringOnlyDependenciesInLayers()
                .layer("inbox")
                .definedBy("dev.twinbox.inbox")
                .layer("engine")
                .definedBy("dev.twinbox.inbox.engine")
                .layer("config")
                .definedBy("dev.twinbox.inbox.config")
                .layer("jdbc")
                .definedBy("dev.twinbox.inbox.jdbc")
                .layer("event")
                .definedBy("dev.twinbox.inbox.event")
                .layer("cli")
                .definedBy("dev.twinbox.inbox.cli")
                .whereLayer("inbox")
                .mayNotBeAccessedByAnyLayer()
                .whereLayer("cli")
                .mayNotBeAccessedByAnyLayer()
                .whereLayer("engine")
                .mayOnlyBeAccessedByLayers("inbox")
                .whereLayer("config")
                .mayOnlyBeAccessedByLayers("inbox", "engine")
                .whereLayer("jdbc")
                .mayOnlyBeAccessedByLayers("inbox", "engine", "config", "cli")
                .whereLayer("event")
                .mayOnlyBeAccessedByLayers("inbox", "engine", "config", "jdbc")
                .check(RECEIVER);
    }

    @Test
    void the_library_knows_nothing_of_command_lines_and_migrations() {
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.twinbox.inbox.cli..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("picocli..", "org.flywaydb..", "org.postgresql..")
                .check(RECEIVER);
    }

    @Test
    void only_the_rooms_of_the_tables_and_of_the_data_source_speak_SQL() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "dev.twinbox.inbox.event..", "dev.twinbox.inbox.config..", "dev.twinbox.inbox.cli..")
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName("java.sql.PreparedStatement")
                .check(RECEIVER);
    }

    @Test
    void the_sample_sees_the_first_room_only() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "dev.twinbox.inbox.engine..",
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
