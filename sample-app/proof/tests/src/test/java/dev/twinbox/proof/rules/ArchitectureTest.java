package dev.twinbox.proof.rules;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.have;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.Location;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.Timer;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
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
        "dev.twinbox",
        "dev.twinbox.config..",
        "dev.twinbox.jdbc..",
        "dev.twinbox.outbox..",
        "dev.twinbox.json..",
        "dev.twinbox.lock..",
        "dev.twinbox.schema..",
        "dev.twinbox.thread..",
        "dev.twinbox.tracing.."
    };
    private static final String CONSOLE = "dev.twinbox.console..";
    private static final String RELAY = "dev.twinbox.relay..";
    private static final String INBOX = "dev.twinbox.inbox..";
    private static final String SAMPLE = "dev.twinbox.sample..";
    private static final String PROOF = "dev.twinbox.proof..";
    private static final String FIXTURES = "dev.twinbox.fixtures..";

    private static final int LARGEST_PACKAGE = 50;

    /**
     * The packages of the modules that are divided, one line for each: after its name those that it may use, beside the core
     * and what is no class of Twinbox.
     */
    private static final Map<String, Set<String>> MAY_USE = Map.ofEntries(
            layer("dev.twinbox.relay", "operator", "http", "log", "engine", "kafka", "jdbc", "config"),
            layer("dev.twinbox.relay.http", "operator", "engine", "kafka", "jdbc", "config"),
            layer("dev.twinbox.relay.operator", "kafka", "jdbc", "config"),
            layer("dev.twinbox.relay.log", "config"),
            layer("dev.twinbox.relay.engine", "pause", "kafka", "jdbc", "config"),
            layer("dev.twinbox.relay.pause", "jdbc", "config"),
            layer("dev.twinbox.relay.kafka", "jdbc", "config"),
            layer("dev.twinbox.relay.jdbc", "config"),
            layer("dev.twinbox.relay.config"),
            layer("dev.twinbox.inbox", "engine", "config", "jdbc", "event"),
            layer("dev.twinbox.inbox.engine", "replay", "pause", "kafka", "config", "jdbc", "event"),
            layer("dev.twinbox.inbox.replay", "pause", "kafka", "config", "jdbc", "event"),
            layer("dev.twinbox.inbox.pause", "jdbc", "event"),
            layer("dev.twinbox.inbox.kafka", "config", "jdbc", "event"),
            layer("dev.twinbox.inbox.config", "jdbc", "event"),
            layer("dev.twinbox.inbox.jdbc", "event"),
            layer("dev.twinbox.inbox.event"),
            layer("dev.twinbox.inbox.cli", "console", "jdbc", "event"),
            layer("dev.twinbox.inbox.console", "jdbc", "event"));

    /** Public although no class of ours uses them: applications, the container or the JVM do. */
    private static final Set<String> ENTRY_POINTS = Set.of(
            "dev.twinbox.relay.RelayMain",
            "dev.twinbox.inbox.cli.InboxCli",
            "dev.twinbox.inbox.HandledEvents",
            "dev.twinbox.inbox.HandlerScan",
            "dev.twinbox.inbox.InboxExtension",
            "dev.twinbox.inbox.InboxLifecycle",
            "dev.twinbox.inbox.InboxStatus",
            "dev.twinbox.inbox.ParkedEvents",
            "dev.twinbox.inbox.ReadinessExtension");

    private static final Set<Class<?>> THREAD_POOLS =
            Set.of(Executors.class, AbstractExecutorService.class, CompletableFuture.class, Timer.class);

    /** Words that do not say what a class does. */
    private static final Set<String> EMPTY_WORDS =
            Set.of("util", "utils", "common", "helper", "helpers", "manager", "base", "support", "impl");

    private static final JavaClasses MAIN = read("target/classes");

    /** A module, its folder, and the packages that it may have. */
    enum Module {
        FRAMEWORK_CORE("framework-core", CORE),
        CONSOLE_MODULE("framework-core/console", CONSOLE),
        OUTBOX_RELAY("outbox-relay", RELAY),
        INBOX_RECEIVER("inbox-receiver", INBOX),
        INBOX_CLI("inbox-receiver/cli", "dev.twinbox.inbox.cli..", "dev.twinbox.inbox.console.."),
        FIXTURES_MODULE("sample-app/proof/fixtures", FIXTURES),
        ORDERS("sample-app/orders", "dev.twinbox.sample.orders.."),
        SHIPPING("sample-app/shipping", "dev.twinbox.sample.shipping.."),
        SERVERS("sample-app/servers", "dev.twinbox.sample.servers.."),
        DEMO("sample-app/demo", "dev.twinbox.sample.demo.."),
        LANDSCAPE(
                "sample-app/proof/landscape",
                "dev.twinbox.proof.appserver..",
                "dev.twinbox.proof.landscape..",
                "dev.twinbox.proof.ledger.."),
        CRASH("sample-app/proof/crash", "dev.twinbox.proof.crash.."),
        BENCH(
                "sample-app/proof/bench",
                "dev.twinbox.proof.bench.lock..",
                "dev.twinbox.proof.bench.receive..",
                "dev.twinbox.proof.bench.write.."),
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
                .resideInAnyPackage(CONSOLE, RELAY, INBOX, SAMPLE, PROOF, FIXTURES)
                .check(MAIN);
    }

    @Test
    void theConsoleSeesNeitherRelayNorReceiver() {
        noClasses()
                .that()
                .resideInAPackage(CONSOLE)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(RELAY, INBOX, SAMPLE, PROOF, FIXTURES)
                .check(MAIN);
    }

    /** Applications bring core and inbox. Whoever serves a page is a process of its own. */
    @Test
    void whatComesIntoAWARServesNoPages() {
        noClasses()
                .that()
                .resideInAnyPackage(CORE)
                .or()
                .resideInAPackage(INBOX)
                .and()
                .resideOutsideOfPackages("dev.twinbox.inbox.cli..", "dev.twinbox.inbox.console..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(CONSOLE, "org.eclipse.jetty..", "com.sun.net.httpserver..")
                .check(MAIN);
    }

    @Test
    void onlyTheConsoleKnowsItsHTTPLibrary() {
        noClasses()
                .that()
                .resideOutsideOfPackage(CONSOLE)
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.eclipse.jetty..")
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
                        "dev.twinbox.config..",
                        "dev.twinbox.jdbc..",
                        "dev.twinbox.outbox..",
                        "dev.twinbox.json..",
                        "dev.twinbox.lock..",
                        "dev.twinbox.schema..",
                        "dev.twinbox.thread..",
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
                        "dev.twinbox.sample.demo..",
                        "dev.twinbox.proof.appserver..",
                        "dev.twinbox.proof.landscape..",
                        "dev.twinbox.proof.ledger..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(Stream.of(CORE, new String[] {CONSOLE, RELAY, INBOX})
                        .flatMap(Arrays::stream)
                        .toArray(String[]::new))
                .check(MAIN);
    }

    @Test
    void theDemoSeesNeitherBenchmarksNorSoak() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "dev.twinbox.sample.demo..",
                        "dev.twinbox.proof.appserver..",
                        "dev.twinbox.proof.landscape..",
                        "dev.twinbox.proof.ledger..")
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
    void aPackageUsesOnlyThoseBelowIt() {
        Map<String, Set<String>> used = graph(divided(), JavaClass::getPackageName);

        used.forEach((name, others) ->
                assertThat(others).as("packages that %s uses", name).isSubsetOf(MAY_USE.getOrDefault(name, Set.of())));
    }

    @Test
    void eachPackageOfADividedModuleHasItsLayer() {
        assertThat(divided().map(JavaClass::getPackageName).distinct()).isSubsetOf(MAY_USE.keySet());
    }

    @Test
    void noPackagesUseEachOtherInACircle() {
        assertThat(circles(graph(product(), JavaClass::getPackageName))).isEmpty();
    }

    @Test
    void noClassesUseEachOtherInACircle() {
        assertThat(circles(graph(product(), ArchitectureTest::topLevel))).isEmpty();
    }

    @Test
    void aClassIsPublicOnlyForAnotherPackage() {
        Set<String> usedByOthers = divided()
                .flatMap(user ->
                        usedBy(user).filter(used -> !used.getPackageName().equals(user.getPackageName())))
                .filter(used -> MAY_USE.containsKey(used.getPackageName()))
                .map(ArchitectureTest::topLevel)
                .collect(Collectors.toSet());

        assertThat(divided()
                        .filter(JavaClass::isTopLevelClass)
                        .filter(candidate -> candidate.getModifiers().contains(JavaModifier.PUBLIC))
                        .map(JavaClass::getName)
                        .filter(name -> !usedByOthers.contains(name)))
                .as("public classes that no other package uses")
                .containsExactlyInAnyOrderElementsOf(ENTRY_POINTS);
    }

    @Test
    void nobodyOutsideUsesAClassOfTheRelay() {
        noClasses()
                .that()
                .resideOutsideOfPackage(RELAY)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(RELAY)
                .check(MAIN);
    }

    @Test
    void noPackageIsTooLargeToBeLookedThrough() {
        Map<String, Long> sizes = product()
                .filter(JavaClass::isTopLevelClass)
                .filter(each -> !each.getSimpleName().equals("package-info"))
                .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()));

        assertThat(sizes)
                .isNotEmpty()
                .allSatisfy((name, size) ->
                        assertThat(size).as("classes in %s", name).isLessThanOrEqualTo(LARGEST_PACKAGE));
    }

    @Test
    void nobodySleeps() {
        JavaClasses all = new ClassFileImporter()
                .importLocations(Stream.of("target/classes", "target/test-classes")
                        .flatMap(ArchitectureTest::locations)
                        .collect(Collectors.toSet()));

        // Polls for what gives no signal; a pause that a benchmark asks for.
        noClasses()
                .that(DescribedPredicate.not(
                        nameMatching("dev\\.twinbox\\.(fixtures\\.Signals|proof\\.bench\\.receive\\.PoolResource)")))
                .should()
                .callCodeUnitWhere(DescribedPredicate.describe("sleeps", ArchitectureTest::sleeps))
                .check(all);
    }

    private static boolean sleeps(JavaCall<?> call) {
        JavaClass owner = call.getTargetOwner();
        return call.getTarget().getName().equals("sleep")
                && (owner.isAssignableTo(Thread.class) || owner.isEquivalentTo(TimeUnit.class));
    }

    /** A thread that is started in another way could end in silence. The JVM's hook ends the process. */
    @Test
    void everyThreadOfRelayAndReceiverIsStartedByTheSupervisorOrItsPool() {
        noClasses()
                .that()
                .resideInAnyPackage(CORE)
                .or()
                .resideInAnyPackage(CONSOLE, RELAY, INBOX)
                .and()
                .resideOutsideOfPackage("dev.twinbox.thread..")
                .and()
                .doNotHaveFullyQualifiedName("dev.twinbox.relay.Termination")
                .should()
                .callCodeUnitWhere(DescribedPredicate.describe("starts a thread", ArchitectureTest::startsAThread))
                .check(MAIN);
    }

    private static boolean startsAThread(JavaCall<?> call) {
        JavaClass owner = call.getTargetOwner();
        String name = call.getTarget().getName();
        boolean isThread = owner.isAssignableTo(Thread.class)
                && Set.of("<init>", "start", "startVirtualThread", "ofVirtual", "ofPlatform")
                        .contains(name);
        boolean isFactory = owner.isAssignableTo(ThreadFactory.class) && name.equals("newThread");
        boolean isPool = THREAD_POOLS.stream().anyMatch(owner::isAssignableTo)
                && !Set.of("complete", "completeExceptionally").contains(name);
        return isThread || isFactory || isPool;
    }

    private static Map.Entry<String, Set<String>> layer(String name, String... mayUse) {
        String module = name.split("\\.").length == 3 ? name : name.substring(0, name.lastIndexOf('.'));
        return Map.entry(
                name, Arrays.stream(mayUse).map(other -> module + '.' + other).collect(Collectors.toSet()));
    }

    /** The classes that are released. */
    private static Stream<JavaClass> product() {
        String[] packages = Stream.concat(Arrays.stream(CORE), Stream.of(CONSOLE, RELAY, INBOX))
                .toArray(String[]::new);
        return MAIN.that(resideInAnyPackage(packages)).stream();
    }

    /** The classes of the modules that are divided. */
    private static Stream<JavaClass> divided() {
        return MAIN.stream()
                .filter(each -> MAY_USE.keySet().stream()
                        .anyMatch(layer -> (each.getPackageName() + '.').startsWith(layer + '.')));
    }

    /** Which of the classes uses which. What a sealed type knows of its own subtypes does not count. */
    private static Map<String, Set<String>> graph(Stream<JavaClass> classes, Function<JavaClass, String> node) {
        Map<String, Set<String>> graph = new TreeMap<>();
        Set<JavaClass> nodes = classes.collect(Collectors.toSet());
        for (JavaClass user : nodes) {
            Set<String> used = graph.computeIfAbsent(node.apply(user), name -> new TreeSet<>());
            user.getDirectDependenciesFromSelf().stream()
                    .map(use -> use.getTargetClass().getBaseComponentType())
                    .filter(nodes::contains)
                    .filter(target -> !(target.isAssignableTo(user.getName()) && isSealed(user)))
                    .map(node)
                    .filter(target -> !target.equals(node.apply(user)))
                    .forEach(used::add);
        }
        return graph;
    }

    /** What a class names, and the types in the signatures of what it calls, which the compiler has to see as well. */
    private static Stream<JavaClass> usedBy(JavaClass user) {
        return Stream.of(
                        user.getDirectDependenciesFromSelf().stream().map(Dependency::getTargetClass),
                        user.getCodeUnitAccessesFromSelf().stream()
                                .flatMap(call -> call.getTarget().getRawParameterTypes().stream()),
                        user.getAccessesFromSelf().stream()
                                .map(JavaAccess::getTarget)
                                .flatMap(target -> Stream.of(
                                        target instanceof AccessTarget.FieldAccessTarget field
                                                ? field.getRawType()
                                                : ((AccessTarget.CodeUnitAccessTarget) target).getRawReturnType())))
                .flatMap(types -> types);
    }

    private static String topLevel(JavaClass each) {
        JavaClass outer = each.getBaseComponentType();
        while (outer.getEnclosingClass().isPresent()) {
            outer = outer.getEnclosingClass().get();
        }
        return outer.getName();
    }

    /** By the attribute in its class file, which ArchUnit does not show. */
    private static boolean isSealed(JavaClass each) {
        try {
            byte[] file =
                    Files.readAllBytes(Path.of(each.getSource().orElseThrow().getUri()));
            return new String(file, StandardCharsets.ISO_8859_1).contains("PermittedSubclasses");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The nodes from which one comes back to themselves, each with where it leads first on that way. */
    private static Map<String, Set<String>> circles(Map<String, Set<String>> graph) {
        Map<String, Set<String>> reachable = new TreeMap<>();
        graph.keySet().forEach(node -> reachable.put(node, reachableFrom(node, graph)));
        Map<String, Set<String>> circles = new TreeMap<>();
        graph.forEach((node, used) -> {
            Set<String> back = used.stream()
                    .filter(next -> reachable.getOrDefault(next, Set.of()).contains(node))
                    .collect(Collectors.toCollection(TreeSet::new));
            if (!back.isEmpty()) {
                circles.put(node, back);
            }
        });
        return circles;
    }

    private static Set<String> reachableFrom(String start, Map<String, Set<String>> graph) {
        Set<String> found = new TreeSet<>();
        Deque<String> next = new ArrayDeque<>(graph.get(start));
        while (!next.isEmpty()) {
            String node = next.pop();
            if (found.add(node)) {
                next.addAll(graph.getOrDefault(node, Set.of()));
            }
        }
        return found;
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
