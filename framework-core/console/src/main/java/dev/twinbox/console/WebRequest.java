package dev.twinbox.console;

import java.net.URI;
import java.net.URISyntaxException;
import org.eclipse.jetty.http.HttpURI;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/**
 * A request whose header is read.
 *
 * @param path decoded once, not normalised: it is compared with the known paths, never resolved
 * @param sentPath the path as the client wrote it
 */
public record WebRequest(String method, String path, String sentPath) {

    /** The request, or null if its address has no path or is not a URI. */
    static @Nullable WebRequest of(Request request) {
        HttpURI address = request.getHttpURI();
        String sent = address.getPath();
        if (sent == null || !sent.startsWith("/")) {
            return null;
        }
        try {
            // Jetty looks at the path only, and is lenient. The JDK's parser checks path and query by RFC 2396.
            String path = new URI("http://host" + address.getPathQuery()).getPath();
            return new WebRequest(request.getMethod(), path, sent);
        } catch (URISyntaxException e) {
            return null;
        }
    }
}
