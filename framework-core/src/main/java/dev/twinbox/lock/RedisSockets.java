package dev.twinbox.lock;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.DefaultJedisSocketFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * Connects to Redis within a limit: the name server's answer has one, the connection to all addresses of the host has one,
 * and so has each answer afterwards. Jedis' own sockets leave out the first, and count the others for each part.
 */
final class RedisSockets extends DefaultJedisSocketFactory {

    private final RedisAddress address;
    private final NameLookup names;
    private final int limitMillis;
    private final @Nullable SSLSocketFactory tls;

    /**
     * Connects nowhere yet.
     *
     * @param threads ask the name server
     * @param tls null: without TLS, unless the address demands it; then that of this JVM
     */
    RedisSockets(RedisAddress address, Executor threads, int limitMillis, @Nullable SSLSocketFactory tls) {
        super(new HostAndPort(address.host(), address.port()));
        this.address = address;
        this.names = new NameLookup(address.host(), threads, limitMillis);
        this.limitMillis = limitMillis;
        this.tls = tls;
    }

    @Override
    public Socket createSocket() {
        try {
            Socket plain = connect(names.addresses());
            return address.tls() ? encrypted(plain) : plain;
        } catch (IOException e) {
            // Wrapped: a socket's own exception would look like a connection that was there, and is closed.
            throw new JedisConnectionException(
                    "no connection to " + address.host() + ':' + address.port() + " (" + e.getMessage() + ")",
                    new IOException(e));
        } catch (InterruptedException e) {
            throw new JedisConnectionException(
                    "interrupted while the address was looked up", e); // the flag: RedisLeases
        }
    }

    /** In any order: one that does not answer may use up the time of all. */
    private Socket connect(InetAddress[] addresses) throws IOException {
        List<InetAddress> all = new ArrayList<>(List.of(addresses));
        Collections.shuffle(all);
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
        IOException failed = new SocketTimeoutException("no address answers within " + limitMillis + " ms");
        for (InetAddress each : all) {
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (left > 0) {
                try {
                    return connect(each, (int) left);
                } catch (IOException e) {
                    failed = e;
                }
            }
        }
        throw failed;
    }

    private Socket connect(InetAddress to, int millis) throws IOException {
        Socket socket = new LimitedSocket(limitMillis);
        try {
            socket.setKeepAlive(true);
            socket.setTcpNoDelay(true);
            socket.setSoLinger(true, 0); // a connection that failed is closed at once
            socket.connect(new InetSocketAddress(to, address.port()), millis);
            socket.setSoTimeout(limitMillis);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** A certificate of another host is refused, before the password is sent. TLS alone does not compare names. */
    private Socket encrypted(Socket plain) throws IOException {
        SSLSocketFactory factory = tls == null ? (SSLSocketFactory) SSLSocketFactory.getDefault() : tls;
        SSLSocket socket = (SSLSocket) factory.createSocket(plain, address.host(), address.port(), true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        return socket;
    }
}
