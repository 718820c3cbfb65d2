package dev.twinbox.it;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A line to PostgreSQL that breaks once at a word of the client: before the server hears it, or before its answer. */
final class CommitCutter implements AutoCloseable {

    enum Cut {
        NONE,
        BEFORE,
        AFTER
    }

    private final ServerSocket listener;
    private final int target;
    private volatile Cut cut = Cut.NONE;
    private volatile String word = "";
    private volatile boolean isDone;

    CommitCutter(int target) throws IOException {
        this.target = target;
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        daemon(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    void arm(Cut how, String at) {
        isDone = false;
        word = at;
        cut = how;
    }

    boolean isDone() {
        return isDone;
    }

    private interface Io {
        void run() throws IOException;
    }

    private static void daemon(Io work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (IOException e) {
                // the line is broken
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = listener.accept();
            Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
            boolean[] isMute = {false};
            daemon(() -> toServer(client, server, isMute));
            daemon(() -> toClient(client, server, isMute));
        }
    }

    private synchronized Cut take(String text) {
        if (cut != Cut.NONE && text.contains(word)) {
            Cut now = cut;
            cut = Cut.NONE;
            return now;
        }
        return Cut.NONE;
    }

    private void toServer(Socket client, Socket server, boolean[] isMute) throws IOException {
        try (client;
                server) {
            InputStream in = client.getInputStream();
            OutputStream out = server.getOutputStream();
            byte[] buffer = new byte[65_536];
            int read;
            while ((read = in.read(buffer)) > 0) {
                Cut now = take(new String(buffer, 0, read, StandardCharsets.ISO_8859_1));
                if (now == Cut.BEFORE) {
                    isDone = true;
                    return;
                }
                if (now == Cut.AFTER) {
                    isMute[0] = true;
                }
                out.write(buffer, 0, read);
            }
        }
    }

    private void toClient(Socket client, Socket server, boolean[] isMute) throws IOException {
        try (client;
                server) {
            InputStream in = server.getInputStream();
            OutputStream out = client.getOutputStream();
            byte[] buffer = new byte[65_536];
            int read;
            while ((read = in.read(buffer)) > 0) {
                if (isMute[0]) {
                    isDone = true;
                    return;
                }
                out.write(buffer, 0, read);
            }
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
