package dev.twinbox.proof.matrix;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Called by a Byteman rule inside the process that is to die. Byteman makes a subclass of it, so it is public. It talks
 * to the test through files, see {@link KillSwitch}. Files work during the whole life of a process, without a thread or
 * port.
 *
 * <p>In that process it is in the agent's jar, without the other classes of the test.
 */
public class Kill {
    /** With this exit code the test knows that its own kill has happened. */
    public static final int EXIT_CODE = 86;

    private static final long CHECK = 2_000_000;

    /** Created by Byteman for each rule. */
    public Kill() {}

    /**
     * Whether the process is to die at this step.
     *
     * @param subject what the call is about
     */
    public boolean isArmed(String folder, String subject) {
        return Files.exists(armed(folder)) && number(folder, subject) >= 0;
    }

    /**
     * Ends the process like a power cut: no shutdown hook, no finally block. It waits at the step until the test
     * continues; other threads may reach the step meanwhile.
     */
    public void halt(String folder, String subject) {
        try {
            Files.write(Path.of(folder, "reached-" + number(folder, subject)), new byte[0]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        while (!Files.exists(Path.of(folder, "go"))) {
            LockSupport.parkNanos(CHECK);
        }
        Runtime.getRuntime().halt(EXIT_CODE);
    }

    /** The number of the line that is part of the subject; -1: the test does not wait for this subject. */
    private static int number(String folder, String subject) {
        try {
            List<String> wanted = Files.readAllLines(armed(folder));
            for (int i = 0; i < wanted.size(); i++) {
                if (subject.contains(wanted.get(i))) {
                    return i;
                }
            }
            return -1;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path armed(String folder) {
        return Path.of(folder, "armed");
    }
}
