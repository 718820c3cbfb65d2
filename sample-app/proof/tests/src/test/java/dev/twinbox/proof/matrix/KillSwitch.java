package dev.twinbox.proof.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.ChildProcess;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Kills a child process at a step of its code. The process has a Byteman rule from its start, which does nothing until
 * {@link #arm}. Then each thread that reaches the step waits there, until {@link #fire} halts the JVM.
 */
final class KillSwitch {
    /** On a busy machine servers may take minutes. */
    private static final Duration LIMIT = Duration.ofMinutes(4);

    private static final Duration POLL = Duration.ofMillis(20);

    private final KillPoint point;
    private final Path folder;
    private int awaited;

    private KillSwitch(KillPoint point, Path folder) {
        this.point = point;
        this.folder = folder;
    }

    /** @param folder a new folder of its own */
    static KillSwitch at(KillPoint point, Path folder) {
        try {
            return new KillSwitch(point, Files.createDirectories(folder).toAbsolutePath());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The options of a JVM with these switches.
     *
     * @param byteman the agent's jar
     * @param folder for the script
     */
    static String[] jvmOptions(Path byteman, Path folder, Collection<KillSwitch> switches) {
        List<String> rules = new ArrayList<>();
        for (KillSwitch each : switches) {
            rules.add(each.point.rule("kill " + rules.size(), each.folder.toString()));
        }
        try {
            Files.createDirectories(folder);
            Path script = Files.writeString(folder.resolve("kill.btm"), String.join("\n", rules));
            Path agent = agentWithKill(byteman, folder.resolve("kill-agent.jar"));
            return new String[] {"-javaagent:" + agent.toAbsolutePath() + "=script:" + script.toAbsolutePath()};
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The agent's jar is on the class path of its process, so all application classes find what is in it. Nothing is
     * added to the boot class path: that would end class data sharing.
     */
    private static Path agentWithKill(Path byteman, Path agent) throws IOException {
        Files.copy(byteman, agent, StandardCopyOption.REPLACE_EXISTING);
        String entry = Kill.class.getName().replace('.', '/') + ".class";
        try (FileSystem jar = FileSystems.newFileSystem(agent);
                InputStream bytes = Objects.requireNonNull(Kill.class.getResourceAsStream("Kill.class"))) {
            Path target = jar.getPath(entry);
            Files.createDirectories(target.getParent());
            Files.copy(bytes, target, StandardCopyOption.REPLACE_EXISTING);
        }
        return agent;
    }

    /** Lets the process die at the step from now on. */
    void arm() {
        arm(List.of(""));
    }

    /**
     * Lets the process die at the step when a thread for each of these subjects has reached it.
     *
     * @param subjects parts of {@linkplain KillPoint#subject the subjects} to wait for
     */
    void arm(List<String> subjects) {
        awaited = subjects.size();
        write("armed", subjects);
    }

    /** Waits until the process has reached the step. */
    void awaitReached(ChildProcess process) {
        await("the process to come to " + point)
                .atMost(LIMIT)
                .pollInterval(POLL)
                .until(() -> isReached() || !process.isAlive());
        assertThat(isReached())
                .as("came to %s, which the process did not survive:%n%s", point, process.log())
                .isTrue();
    }

    private boolean isReached() {
        return IntStream.range(0, awaited).allMatch(i -> Files.exists(folder.resolve("reached-" + i)));
    }

    /** Kills the process and returns when it is dead. Afterwards {@link #arm} can be called again. */
    void fire(ChildProcess process) {
        write("go", List.of());
        assertThat(process.awaitExit(LIMIT))
                .as("killed at %s; %s", point, process.log())
                .isEqualTo(Kill.EXIT_CODE);
        disarm();
    }

    /** Undoes {@link #arm}. */
    void disarm() {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void write(String file, List<String> lines) {
        try {
            Files.write(folder.resolve(file), lines);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
