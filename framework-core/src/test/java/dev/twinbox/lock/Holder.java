package dev.twinbox.lock;

import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.JavaProcess;
import dev.twinbox.fixtures.Ports;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.awaitility.core.ConditionTimeoutException;

/** A {@link HolderMain} in a process of its own, and the questions to it. */
final class Holder implements AutoCloseable {

    private static final int LIMIT_MILLIS = 30_000;

    private final JavaProcess process;
    private final Socket socket;
    private final PrintWriter commands;
    private final BufferedReader answers;

    Holder(String name, HolderMain.Ways way, EffectDatabase database, int redisPort, int limitMillis, Duration clock) {
        int port = Ports.pick();
        process = new JavaProcess(
                        HolderMain.class,
                        Integer.toString(port),
                        name,
                        way.name(),
                        database.url(),
                        database.user(),
                        database.password(),
                        Integer.toString(redisPort),
                        Integer.toString(limitMillis))
                .withClock(clock)
                .start();
        try {
            socket = connect(port);
            socket.setSoTimeout(LIMIT_MILLIS);
            commands = new PrintWriter(socket.getOutputStream(), true, StandardCharsets.UTF_8);
            answers = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            await().atMost(Duration.ofMinutes(1)).until(() -> ask("warm-up").equals("ready"));
        } catch (IOException | ConditionTimeoutException e) {
            process.kill();
            throw new IllegalStateException(process.log(), e);
        }
    }

    private static Socket connect(int port) {
        return await().ignoreExceptionsInstanceOf(IOException.class)
                .atMost(Duration.ofMinutes(1))
                .until(() -> new Socket(InetAddress.getLoopbackAddress(), port), connected -> true);
    }

    /** Asks and waits for the answer. */
    String ask(String command) {
        tell(command);
        return answer();
    }

    void tell(String command) {
        commands.println(command);
    }

    String answer() {
        try {
            return answers.readLine();
        } catch (SocketTimeoutException e) {
            throw new IllegalStateException("no answer; " + process.log(), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** SIGSTOP. */
    void pause() {
        process.pause();
    }

    /** SIGCONT. */
    void resume() {
        process.resume();
    }

    @Override
    public void close() {
        process.kill();
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
