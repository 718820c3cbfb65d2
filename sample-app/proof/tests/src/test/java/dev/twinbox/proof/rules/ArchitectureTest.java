package dev.twinbox.proof.rules;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.have;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.Location;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The rules of the code base, checked on the compiled classes of all modules. */
class ArchitectureTest {

    private static final Path ROOT = Path.of(System.getProperty("twinbox.root"));

    private static final String[] CORE = {
        "dev.twinbox", "dev.twinbox.outbox..", "dev.twinbox.json..", "dev.twinbox.schema..", "dev.twinbox.tracing.."
    };
    private static final String RELAY = "dev.twinbox.relay..";
    private static final String INBOX = "dev.twinbox.inbox..";
    private static final String SAMPLE = "dev.twinbox.sample..";
    private static final String PROOF = "dev.twinbox.proof..";
    private static final String FIXTURES = "dev.twinbox.fixtures..";

    /** Words that do not say what a class does. */
    private static final Set<String> EMPTY_WORDS =
            Set.of("util", "utils", "common", "helper", "helpers", "manager", "base", "support", "impl");

    private static final JavaClasses MAIN = read("target/classes");

    /** A module, its folder, and the packages that it may have. */
    enum Module {
        FRAMEWORK_CORE("framework-core", CORE),
        OUTBOX_RELAY("outbox-relay", RELAY),
        INBOX_RECEIVER("inbox-receiver", INBOX),
        FIXTURES_MODULE("sample-app/proof/fixtures", FIXTURES),
        ORDERS("sample-app/orders", "dev.twinbox.sample.orders.."),
        SHIPPING("sample-app/shipping", "dev.twinbox.sample.shipping.."),
        SERVERS("sample-app/servers", "dev.twinbox.sample.servers.."),
        DEMO("sample-app/demo", "dev.twinbox.sample.demo.."),
        LANDSCAPE("sample-app/proof/landscape", "dev.twinbox.proof.landscape..", "dev.twinbox.proof.ledger.."),
        CRASH("sample-app/proof/crash", "dev.twinbox.proof.crash.."),
        BENCH("sample-app/proof/bench", "dev.twinbox.proof.bench.receive..", "dev.twinbox.proof.bench.write.."),
        BENCH_DEBEZIUM("sample-app/proof/bench-debezium", "dev.twinbox.proof.bench.debezium.."),
        BENCHMARKS("sample-app/proof/benchmarks", "dev.twinbox.proof.bench.."),
        SOAK("sample-app/proof/soak", "dev.twinbox.proof.soak..");

        private final String folder;
        private final String[] packages;

        Module(String folder, String... packages) {
            this.folder = folder;
            this.packages = packages;
        }

        Path classes(String kind) {
            return ROOT.resolve(folder).resolve(kind);
        }
    }

    @ParameterizedTest
    @EnumSource(Module.class)
    void aModuleHoldsItsOwnPackagesAndNoOthers(Module module) {
        JavaClasses own = new ClassFileImporter().importPath(module.classes("target/classes"));

        classes().should().resideInAnyPackage(module.packages).check(own);
    }

    @Test
    void theCoreSeesNoOtherModule() {
        noClasses()
                .that()
                .resideInAnyPackage(CORE)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(RELAY, INBOX, SAMPLE, PROOF, FIXTURES)
                .check(MAIN);
    }

    @Test
    void theRelaySeesNeitherTheReceiverNorTheSample() {
        noClasses()
                .that()
                .resideInAPackage(RELAY)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(INBOX, SAMPLE, PROOF, FIXTURES)
                .check(MAIN);
    }

    @Test
    void theReceiverSeesNeitherTheRelayNorTheSample() {
        noClasses()
                .that()
                .resideInAPackage(INBOX)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(RELAY, SAMPLE, PROOF, FIXTURES)
                .check(MAIN);
    }

    @Test
    void theRelayIsJDBCAndKafkaWithoutAContainer() {
        noClasses()
                .that()
                .resideInAPackage(RELAY)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "jakarta.persistence..",
                        "jakarta.ejb..",
                        "jakarta.enterprise..",
                        "jakarta.transaction..",
                        "jakarta.inject..",
                        "org.hibernate..")
                .check(MAIN);
    }

    @Test
    void theServicesOfTheSampleUseOnlyWhatAnApplicationNames() {
        DescribedPredicate<JavaClass> inside = resideInAnyPackage(
                        "dev.twinbox.outbox..",
                        "dev.twinbox.json..",
                        "dev.twinbox.schema..",
                        "dev.twinbox.tracing..",
                        RELAY,
                        PROOF,
                        FIXTURES)
                .or(resideInAnyPackage(INBOX).and(DescribedPredicate.not(have(simpleName("InboxStatus")))));

        noClasses()
                .that()
                .resideInAnyPackage("dev.twinbox.sample.orders..", "dev.twinbox.sample.shipping..")
                .should()
                .dependOnClassesThat(are(inside))
                .check(MAIN);
    }

    @Test
    void theDemoAndTheLandscapeTreatTwinboxAsProcessesAndTables() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "dev.twinbox.sample.demo..", "dev.twinbox.proof.landscape..", "dev.twinbox.proof.ledger..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(Stream.of(CORE, new String[] {RELAY, INBOX})
                        .flatMap(Arrays::stream)
                        .toArray(String[]::new))
                .check(MAIN);
    }

    @Test
    void theDemoSeesNeitherBenchmarksNorSoak() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "dev.twinbox.sample.demo..", "dev.twinbox.proof.landscape..", "dev.twinbox.proof.ledger..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("dev.twinbox.proof.bench..", "dev.twinbox.proof.soak..")
                .check(MAIN);
    }

    @Test
    void noPackageAndNoClassHasANameThatSaysNothing() {
        assertThat(MAIN.stream().filter(ArchitectureTest::saysNothing).map(JavaClass::getName))
                .as("classes named %s, or in packages of these names", EMPTY_WORDS)
                .isEmpty();
    }

    @Test
    void everyPackageSaysItsJobAndIsNullMarked() {
        Set<JavaPackage> packages = MAIN.stream().map(JavaClass::getPackage).collect(Collectors.toSet());

        assertThat(packages.stream()
                        .filter(own -> !own.isAnnotatedWith(NullMarked.class))
                        .map(JavaPackage::getName))
                .as("packages without a @NullMarked package-info")
                .isEmpty();
    }

    @Test
    void theOnlyPublicClassOfTheRelayIsItsMainClass() {
        assertThat(publicClasses(RELAY)).containsOnly("dev.twinbox.relay.RelayMain");
    }

    @Test
    void nobodySleeps() {
        JavaClasses all = new ClassFileImporter()
                .importLocations(Stream.of("target/classes", "target/test-classes")
                        .flatMap(ArchitectureTest::locations)
                        .collect(Collectors.toSet()));

        noClasses().should().callMethod(Thread.class, "sleep", long.class).check(all);
    }

    private static List<String> publicClasses(String packages) {
        return MAIN.that(resideInAnyPackage(packages)).stream()
                .filter(candidate ->
                        candidate.getModifiers().contains(JavaModifier.PUBLIC) && candidate.isTopLevelClass())
                .map(JavaClass::getName)
                .toList();
    }

    private static boolean saysNothing(JavaClass candidate) {
        Stream<String> words = Stream.concat(
                Arrays.stream(candidate.getPackageName().split("\\.")),
                Arrays.stream(candidate.getSimpleName().split("(?=[A-Z])")));
        return words.map(word -> word.toLowerCase(Locale.ROOT)).anyMatch(EMPTY_WORDS::contains);
    }

    private static DescribedPredicate<JavaClass> simpleName(String name) {
        return DescribedPredicate.describe(
                "simple name " + name, candidate -> candidate.getSimpleName().equals(name));
    }

    private static JavaClasses read(String kind) {
        return new ClassFileImporter().importLocations(locations(kind).collect(Collectors.toSet()));
    }

    private static Stream<Location> locations(String kind) {
        return Arrays.stream(Module.values())
                .map(module -> module.classes(kind))
                .filter(Files::isDirectory)
                .map(Location::of);
    }
}
