package dev.twinbox.console.config;

import dev.twinbox.config.Secret;
import dev.twinbox.console.Access;
import dev.twinbox.console.WebPage;
import dev.twinbox.console.WebServer;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The address of a server, as configured.
 *
 * @param settings whose names are in messages
 */
public record HttpAddress(HttpConfig http, HttpSettings settings) {

    /** Whether only this host reaches it. */
    public boolean isLoopback() {
        return is(InetAddress::isLoopbackAddress);
    }

    private boolean is(Predicate<InetAddress> kind) {
        try {
            return kind.test(InetAddress.getByName(http.host()));
        } catch (UnknownHostException e) {
            return false; // Then nothing is served at all.
        }
    }

    /** Who may do what there. */
    public Access access() {
        return new Access(
                isLoopback(), http.names(), clear(http.readerToken()), clear(http.operatorToken()), System::nanoTime);
    }

    /**
     * Where somebody on this host reaches the server. An address for all of the host's interfaces is none to ask:
     * {@code localhost} stands for it.
     *
     * @param port on which the server listens
     */
    public String url(int port) {
        String host = http.host().contains(":") ? "[" + http.host() + "]" : http.host();
        return "http://" + (is(InetAddress::isAnyLocalAddress) ? "localhost" : host) + ":" + port;
    }

    private static @Nullable String clear(@Nullable Secret token) {
        return token == null ? null : token.value();
    }

    /**
     * Listens there and serves from now on.
     *
     * @param threads name of the threads
     * @throws IllegalArgumentException if the address is not available
     */
    public WebServer start(String threads, WebPage page) {
        try {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getByName(http.host()), http.port());
            return WebServer.start(address, threads, page);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(
                    settings.host().key() + " = \"" + http.host() + "\" is not an address of this host: correct it", e);
        } catch (BindException e) {
            throw new IllegalArgumentException(
                    "cannot listen on " + http.host() + ":" + http.port() + " (" + e.getMessage()
                            + "): stop what listens there, or set "
                            + settings.host().key() + " and " + settings.port().key(),
                    e);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "cannot listen on " + http.host() + ":" + http.port() + ", choose another: " + e.getMessage(), e);
        }
    }
}
