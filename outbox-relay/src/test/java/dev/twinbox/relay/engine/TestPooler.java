package dev.twinbox.relay.engine;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * What PgBouncer does to the relay, in PostgreSQL's protocol 3.0: clients keep their connection, and get another server
 * connection without being told when theirs is gone. The server must trust its clients, since the pooler logs in with
 * what the client began with, and knows no password.
 */
final class TestPooler implements AutoCloseable {
    enum Mode {
        /** A client keeps its server connection as long as it lives. */
        SESSION_THAT_HIDES_CRASHES,
        /** A client has a server connection during a transaction only. */
        TRANSACTION
    }

    private static final int SSL_REQUEST = 80877103;
    private static final int GSS_REQUEST = 80877104;

    private final Mode mode;
    private final int serverPort;
    private final ServerSocket listener;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final ConcurrentLinkedDeque<Server> idle = new ConcurrentLinkedDeque<>();
    /** A statement and its answer hold the read lock. */
    private final ReadWriteLock pause = new ReentrantReadWriteLock(true);

    TestPooler(Mode mode, int serverPort) throws IOException {
        this.mode = mode;
        this.serverPort = serverPort;
        this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    String jdbcUrl(String database) {
        return "jdbc:postgresql://127.0.0.1:" + listener.getLocalPort() + "/" + database
                + "?user=postgres&prepareThreshold=0";
    }

    /** Waits for the answers to what was asked, and holds back what is asked from now on. */
    void pause() {
        pause.writeLock().lock();
    }

    /** Called by the thread that called {@link #pause}. */
    void resume() {
        pause.writeLock().unlock();
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket each : open) {
            each.close();
        }
    }

    private void start(Runnable work) {
        Thread thread = new Thread(work, "test-pooler");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                open.add(client);
                start(() -> serve(client));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void serve(Socket socket) {
        Server server = null;
        try (socket) {
            DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            OutputStream out = new BufferedOutputStream(socket.getOutputStream());
            byte[] startup = startup(in, out);
            ByteArrayOutputStream greeting = new ByteArrayOutputStream();
            server = new Server(startup, greeting);
            greeting.writeTo(out);
            out.flush();
            for (byte[] request = request(in); request.length > 0; request = request(in)) {
                pause.readLock().lock();
                try {
                    server = alive(server, startup);
                    boolean ended = server.ask(request, out);
                    if (ended && mode == Mode.TRANSACTION) {
                        idle.addFirst(server);
                        server = null;
                    }
                } finally {
                    pause.readLock().unlock();
                }
            }
        } catch (IOException e) {
            // The client is gone, or its server in the middle of a transaction: it is disconnected.
        } finally {
            open.remove(socket);
            if (server != null) {
                server.close();
            }
        }
    }

    private Server alive(Server present, byte[] startup) throws IOException {
        Server server = present;
        while (server == null || !server.isAlive()) {
            Server next = mode == Mode.TRANSACTION && server == null ? idle.pollFirst() : null;
            server = next == null ? new Server(startup, new ByteArrayOutputStream()) : next;
        }
        return server;
    }

    private static byte[] startup(DataInputStream in, OutputStream out) throws IOException {
        while (true) {
            int length = in.readInt();
            int code = in.readInt();
            if (code != SSL_REQUEST && code != GSS_REQUEST) {
                ByteBuffer message = ByteBuffer.allocate(length).putInt(length).putInt(code);
                in.readFully(message.array(), 8, length - 8);
                return message.array();
            }
            out.write('N');
            out.flush();
        }
    }

    /** All messages up to one that wants an answer; empty: the client leaves. */
    private static byte[] request(DataInputStream in) throws IOException {
        ByteArrayOutputStream messages = new ByteArrayOutputStream();
        int type;
        do {
            type = copy(in, messages);
        } while (type != 'S' && type != 'Q' && type != 'X');
        return type == 'X' ? new byte[0] : messages.toByteArray();
    }

    /** Returns the type of the message. */
    private static int copy(DataInputStream in, OutputStream out) throws IOException {
        byte type = in.readByte();
        int length = in.readInt();
        byte[] body = new byte[length - 4];
        in.readFully(body);
        DataOutputStream copy = new DataOutputStream(out);
        copy.writeByte(type);
        copy.writeInt(length);
        copy.write(body);
        copy.flush();
        return type == 'Z' && body[0] != 'I' ? 'T' : type; // in a transaction
    }

    /** A connection to the server. */
    private final class Server {
        private final Socket socket;
        private final DataInputStream in;

        Server(byte[] startup, OutputStream greeting) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), serverPort);
            open.add(socket);
            in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            socket.getOutputStream().write(startup);
            int type = 0;
            while (type != 'Z') {
                type = copy(in, greeting);
                if (type == 'E') {
                    throw new IOException("the server refuses the login");
                }
            }
        }

        /** Returns whether no transaction is open any more. */
        boolean ask(byte[] request, OutputStream client) throws IOException {
            socket.getOutputStream().write(request);
            while (true) {
                ByteArrayOutputStream message = new ByteArrayOutputStream();
                int type = copy(in, message);
                message.writeTo(client);
                if (message.toByteArray()[0] == 'Z') {
                    client.flush();
                    return type == 'Z';
                }
            }
        }

        /** A server that has nothing to say is silent; one that is gone has sent the end. */
        boolean isAlive() {
            try {
                socket.setSoTimeout(1);
                in.read();
                return false; // the end, or a last word
            } catch (SocketTimeoutException e) {
                return restoreTimeout();
            } catch (IOException e) {
                return false;
            }
        }

        private boolean restoreTimeout() {
            try {
                socket.setSoTimeout(0);
                return true;
            } catch (IOException e) {
                return false;
            }
        }

        void close() {
            open.remove(socket);
            try {
                socket.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
