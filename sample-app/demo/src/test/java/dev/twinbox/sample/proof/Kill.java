package dev.twinbox.sample.proof;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
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

    /** Whether the test wants this process to die at this step. */
    public boolean isArmed(String folder) {
        return Files.exists(Path.of(folder, "armed"));
    }

    /** Ends the process as a power cut would: no shutdown hook, no finally block. Stands still at the step until the test says so. */
    public void halt(String folder) {
        try {
            Files.write(Path.of(folder, "reached"), new byte[0]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        while (!Files.exists(Path.of(folder, "go"))) {
            LockSupport.parkNanos(CHECK);
        }
        Runtime.getRuntime().halt(EXIT_CODE);
    }
}
