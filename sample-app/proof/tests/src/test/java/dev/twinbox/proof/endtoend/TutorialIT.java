package dev.twinbox.proof.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.Ports;
import dev.twinbox.proof.endtoend.Tutorial.Step;
import dev.twinbox.proof.endtoend.Tutorial.Type;
import dev.twinbox.proof.endtoend.Tutorial.WriteFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Does what docs/tutorial.md says, as a reader would, and compares what is printed. Other ports are taken than the page's, and
 * the libraries go into a Maven repository of the test's own.
 */
@Tag("proof")
class TutorialIT {

    private static final Path ROOT =
            Path.of(System.getProperty("twinbox.root")).toAbsolutePath().normalize();

    /** On a machine that has other things to do. */
    private static final Duration LIMIT = Duration.ofMinutes(5);

    /** How long a reader looks again before he believes that the page is wrong. */
    private static final Duration LOOK_LIMIT = Duration.ofMinutes(2);

    private static final String POSTGRES_PORT = port();
    private static final String KAFKA_PORT = port();

    /** What the page writes for its reader, and what stands for it here. */
    private static final Map<String, String> REPLACEMENTS = Map.of(
            "~/twinbox",
            ROOT.toString(),
            "8080",
            port(),
            "8414",
            POSTGRES_PORT,
            "8415",
            KAFKA_PORT,
            "servers >",
            "servers -Dservers.postgres.port=" + POSTGRES_PORT + " -Dservers.kafka.port=" + KAFKA_PORT
                    + " -Dfixtures.fork=" + System.getProperty("fixtures.fork", "fork-1") + " >");

    @TempDir
    private Path home;

    @Test
    void everyCommandOfTheTutorialPrintsWhatThePageSays() throws Exception {
        List<Step> steps = Tutorial.read(replaced(Files.readString(ROOT.resolve("docs/tutorial.md"))));
        assertThat(steps).filteredOn(Type.class::isInstance).hasSizeGreaterThan(20);
        markBuilt(ROOT.resolve("sample-app/servers/target"));
        try (Terminal terminal = new Terminal(home, environment())) {
            Path folder = home;
            for (Step step : steps) {
                folder = take(step, terminal, folder);
            }
        }
    }

    /** @return the folder in which the reader is afterwards */
    private Path take(Step step, Terminal terminal, Path folder) throws Exception {
        if (step instanceof WriteFile file) {
            Path path = folder.resolve(file.path());
            Files.createDirectories(Objects.requireNonNull(path.getParent()));
            Files.writeString(path, file.content());
            return folder;
        }
        Type typed = (Type) step;
        if (typed.commands().contains(" install ")) {
            install();
            return folder;
        }
        return type(typed, terminal, folder);
    }

    private static Path type(Type typed, Terminal terminal, Path folder) throws Exception {
        Terminal.Result result;
        try {
            result = typed.isLook() ? look(typed, terminal) : terminal.run(typed.commands(), LIMIT);
        } catch (IllegalStateException e) {
            throw new AssertionError(e.getMessage() + "\nLogs:\n" + logs(folder), e);
        }
        System.out.println("$ " + typed.commands() + "\n" + result.output());
        assertThat(typed.isExpected(result.output()))
                .as(
                        "docs/tutorial.md says that%n%s%nprints%n%s%nbut it printed%n%s%nLogs:%n%s",
                        typed.commands(), typed.output(), result.output(), logs(folder))
                .isTrue();
        assertThat(result.exitCode()).as(typed.commands()).isZero();
        return result.folder();
    }

    /** Looks again and again until there is what the page says; the last look counts. */
    private static Terminal.Result look(Type typed, Terminal terminal) {
        AtomicReference<Terminal.Result> last = new AtomicReference<>();
        try {
            await().atMost(LOOK_LIMIT)
                    .pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofSeconds(1))
                    .until(() -> {
                        last.set(terminal.run(typed.commands(), LIMIT));
                        return typed.isExpected(last.get().output());
                    });
        } catch (ConditionTimeoutException e) {
            if (last.get() == null) {
                throw new IllegalStateException("No end within " + LOOK_LIMIT + " of:\n" + typed.commands(), e);
            }
        }
        return last.get();
    }

    private static String replaced(String page) {
        assertThat(page).as("docs/tutorial.md").contains(REPLACEMENTS.keySet());
        Pattern all = Pattern.compile(
                REPLACEMENTS.keySet().stream().map(Pattern::quote).collect(Collectors.joining("|")));
        return all.matcher(page).replaceAll(found -> Matcher.quoteReplacement(REPLACEMENTS.get(found.group())));
    }

    private Map<String, String> environment() {
        Path java = Path.of(System.getProperty("java.home"));
        Path maven = Path.of(System.getProperty("user.home"), ".m2");
        Map<String, String> environment = new HashMap<>();
        environment.put("JAVA_HOME", java.toString());
        environment.put("PATH", java.resolve("bin") + ":" + System.getenv("PATH"));
        environment.put("MAVEN_USER_HOME", System.getenv().getOrDefault("MAVEN_USER_HOME", maven.toString()));
        environment.put(
                "MAVEN_ARGS",
                "-Dmaven.repo.local=" + repository() + " -Dmaven.repo.local.tail="
                        + System.getProperty(
                                "localRepository", maven.resolve("repository").toString()));
        environment.put("TWINBOX_RELAY_HTTP_PORT", "0");
        return environment;
    }

    private Path repository() {
        return home.resolve("repository");
    }

    /** Puts what the running build has made where {@code mvnw install} would put it. */
    private void install() throws IOException {
        install(ROOT);
        install(ROOT.resolve("framework-core"));
        install(ROOT.resolve("inbox-receiver"));
    }

    private void install(Path module) throws IOException {
        String pom = Files.readString(module.resolve("pom.xml"));
        String version = first("<version>(.+?)</version>", pom); // a module's is that of its parent
        String artifact = first("<artifactId>(.+?)</artifactId>", pom.replaceFirst("(?s)<parent>.*</parent>", ""));
        Path folder = Files.createDirectories(
                repository().resolve("dev/twinbox").resolve(artifact).resolve(version));
        Path installed = folder.resolve(artifact + "-" + version);
        Files.copy(module.resolve("pom.xml"), Path.of(installed + ".pom"));
        List<Path> jars = Stream.of(artifact, artifact + "-" + version)
                .map(name -> module.resolve("target").resolve(name + ".jar"))
                .filter(Files::exists)
                .toList();
        if (!module.equals(ROOT)) {
            assertThat(jars).as("jar of " + module).hasSize(1);
            Files.copy(jars.get(0), Path.of(installed + ".jar"));
        }
    }

    private static String first(String regex, String text) {
        Matcher matcher = Pattern.compile(regex).matcher(text);
        assertThat(matcher.find()).as(regex).isTrue();
        return matcher.group(1);
    }

    /** Maven leaves a jar alone whose content did not change. {@code sample-app/run} would take it for old, and build it beside this build. */
    private static void markBuilt(Path target) throws IOException {
        for (String file : List.of("servers.jar", "class-path")) {
            Files.setLastModifiedTime(target.resolve(file), FileTime.from(Instant.now()));
        }
    }

    private static String logs(Path folder) throws IOException {
        StringBuilder logs = new StringBuilder();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(".log")).toList()) {
                List<String> lines = Files.readAllLines(file);
                logs.append("--- ").append(file.getFileName()).append('\n');
                lines.subList(Math.max(0, lines.size() - 60), lines.size())
                        .forEach(line -> logs.append(line).append('\n'));
            }
        }
        return logs.toString();
    }

    private static String port() {
        return Integer.toString(Ports.pick());
    }
}
