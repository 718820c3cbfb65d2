package dev.twinbox.lock;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Greets as Redis does. What it answers then, and how fast, is the test's. */
final class LyingRedis implements AutoCloseable {

    private final ServerSocket listener;

    /** The answer to each question, in Redis' protocol. */
    volatile String answer = "$-1\r\n";

    /** Between two bytes of an answer. */
    volatile Duration pause = Duration.ZERO;

    LyingRedis() throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    String url() {
        return "redis://127.0.0.1:" + listener.getLocalPort();
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "lying-redis");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listener.accept();
                start(() -> serve(client));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void serve(Socket client) {
        try (client) {
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.ISO_8859_1));
            for (String command = command(in); !command.isEmpty(); command = command(in)) {
                switch (command) {
                    case "CLIENT" -> send(client, "+OK\r\n", Duration.ZERO);
                    case "HELLO" -> send(client, "-ERR unknown command\r\n", Duration.ZERO);
                    default -> send(client, answer, pause);
                }
            }
        } catch (IOException e) {
            // the client has left
        }
    }

    /** The name of the next command; empty: the client leaves. */
    private static String command(BufferedReader in) throws IOException {
        String size = in.readLine();
        if (size == null) {
            return "";
        }
        String name = "";
        for (int i = Integer.parseInt(size.substring(1)); i > 0; i--) {
            int length = Integer.parseInt(in.readLine().substring(1));
            char[] part = new char[length + 2];
            int read = 0;
            while (read < part.length) {
                int more = in.read(part, read, part.length - read);
                if (more < 0) {
                    throw new IOException("the client has left within a command");
                }
                read += more;
            }
            name = name.isEmpty() ? new String(part, 0, length) : name;
        }
        return name.toUpperCase(Locale.ROOT);
    }

    private static void send(Socket client, String text, Duration between) throws IOException {
        OutputStream out = client.getOutputStream();
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        if (between.isZero()) {
            out.write(bytes);
            return;
        }
        for (byte each : bytes) {
            out.write(each);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(between.toMillis()));
        }
    }
}
