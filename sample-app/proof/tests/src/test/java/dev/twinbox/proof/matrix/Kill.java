package dev.twinbox.proof.matrix;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * What a Byteman rule calls inside the process that is to die; public because Byteman makes a subclass of it. It talks by files with the test,
 * see {@link KillSwitch}: a file works from the first moment of a process to its last, and needs no thread or port in it.
 *
 * <p>It is alone on the boot class path there: it may use nothing of the test's.
 */
public class Kill {
    /** The exit code by which a test knows that its own kill has happened. */
    public static final int EXIT_CODE = 86;

    private static final long CHECK = 2_000_000;

    /** Made by Byteman for each rule. */
    public Kill() {}

    /**
     * Whether the test wants this process to die at this step.
     *
     * @param subject what the call is about
     */
    public boolean isArmed(String folder, String subject) {
        return Files.exists(armed(folder)) && number(folder, subject) >= 0;
    }

    /**
     * Ends the process as a power cut would: no shutdown hook, no finally block. Stands still at the step until the test says so; others may
     * come to it meanwhile.
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

    /** Of the line that is part of the subject; -1: the test does not wait for this one. */
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
