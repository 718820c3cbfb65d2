package dev.twinbox.proof.landscape;

import com.sun.management.OperatingSystemMXBean;
import jakarta.json.Json;
import jakarta.json.JsonObjectBuilder;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Where a figure was measured: without this it says nothing. */
public final class Machine {

    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private Machine() {}

    /** Cores, memory, processor, operating system and JDK. */
    public static JsonObjectBuilder json() {
        return Json.createObjectBuilder()
                .add("cores", SYSTEM.getAvailableProcessors())
                .add("memory_mib", SYSTEM.getTotalMemorySize() >> 20)
                .add("cpu", cpu())
                .add(
                        "os",
                        System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                                + System.getProperty("os.arch"))
                .add("jdk", System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version"));
    }

    /** Processes that ran or waited for a core during the last minute, on average: about 0 on a quiet machine. */
    public static double load() {
        return Math.round(SYSTEM.getSystemLoadAverage() * 100) / 100.0;
    }

    /** Whether other processes take so much of this machine that figures are worth little. */
    public static boolean isBusy() {
        return load() > SYSTEM.getAvailableProcessors() / 2.0;
    }

    private static String cpu() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).trim())
                    .findFirst()
                    .orElse("unknown");
        } catch (IOException e) {
            return "unknown";
        }
    }

    /** The commit of the tree, with {@code +changes} when files differ from it; {@code unknown} outside a clone. */
    public static String commit(Path root) {
        String commit = git(root, "rev-parse", "HEAD");
        if (commit.isEmpty()) {
            return "unknown";
        }
        return git(root, "status", "--porcelain").isEmpty() ? commit : commit + "+changes";
    }

    private static String git(Path root, String... arguments) {
        String[] command = Stream.concat(Stream.of("git", "-C", root.toString()), Stream.of(arguments))
                .toArray(String[]::new);
        try {
            Process git = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String output = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
            return git.waitFor() == 0 ? output : "";
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }
}
