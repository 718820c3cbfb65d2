package dev.twinbox.console;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.http.HttpCookie;
import org.eclipse.jetty.http.HttpURI;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.Fields;
import org.eclipse.jetty.util.UrlEncoded;
import org.jspecify.annotations.Nullable;

/** A request whose header is read. */
public final class WebRequest {
    private final Request request;
    private final String path;
    private final Runnable whenBodyIsRead;

    private WebRequest(Request request, String path, Runnable whenBodyIsRead) {
        this.request = request;
        this.path = path;
        this.whenBodyIsRead = whenBodyIsRead;
    }

    /** The request, or null if its address has no path or is not a URI. */
    static @Nullable WebRequest of(Request request, Runnable whenBodyIsRead) {
        HttpURI address = request.getHttpURI();
        String sent = address.getPath();
        if (sent == null || !sent.startsWith("/")) {
            return null;
        }
        try {
            // Jetty looks at the path only, and is lenient. The JDK's parser checks path and query by RFC 2396.
            String path = new URI("http://host" + address.getPathQuery()).getPath();
            return new WebRequest(request, path, whenBodyIsRead);
        } catch (URISyntaxException e) {
            return null;
        }
    }

    public String method() {
        return request.getMethod();
    }

    /** Decoded once, not normalised: it is compared with the known paths, never resolved. */
    public String path() {
        return path;
    }

    /** The path as the client wrote it. */
    public String sentPath() {
        return String.valueOf(request.getHttpURI().getPath());
    }

    /** All values of a header. */
    List<String> headers(String name) {
        return request.getHeaders().getValuesList(name);
    }

    @Nullable String header(String name) {
        return request.getHeaders().get(name);
    }

    /** The value of a cookie; null if there is none of this name, or more than one: then somebody has added theirs. */
    @Nullable String cookie(String name) {
        List<HttpCookie> all = Request.getCookies(request).stream()
                .filter(cookie -> cookie.getName().equals(name))
                .toList();
        return all.size() == 1 ? all.get(0).getValue() : null;
    }

    /** Whether the client's way to here, or to a proxy before this, is encrypted. */
    boolean isEncrypted() {
        List<String> before = headers("X-Forwarded-Proto");
        return request.isSecure() || (before.size() == 1 && before.get(0).equalsIgnoreCase("https"));
    }

    /** The port on which the request came. */
    int localPort() {
        return request.getConnectionMetaData().getLocalSocketAddress() instanceof InetSocketAddress local
                ? local.getPort()
                : 0;
    }

    /** The host that the address or, without one there, the header names; without port, in lower case. */
    @Nullable String host() {
        return request.getHttpURI().getHost();
    }

    /** The host's address on which the request came. */
    String localAddress() {
        return request.getConnectionMetaData().getLocalSocketAddress() instanceof InetSocketAddress local
                ? local.getAddress().getHostAddress()
                : "";
    }

    /**
     * The parameters of the address.
     *
     * @throws ProblemException if one comes twice
     */
    public Map<String, String> query() {
        String query = request.getHttpURI().getQuery();
        Map<String, String> parameters = new LinkedHashMap<>();
        if (query != null) {
            Fields fields = new Fields();
            try {
                UrlEncoded.decodeTo(query, (name, value) -> fields.add(name, value), StandardCharsets.UTF_8);
            } catch (RuntimeException e) {
                throw new ProblemException(400, "The parameters of the address are not UTF-8");
            }
            for (Fields.Field field : fields) {
                if (field.hasMultipleValues()) {
                    throw new ProblemException(400, "Give the parameter " + field.getName() + " once");
                }
                parameters.put(field.getName(), field.getValue());
            }
        }
        return parameters;
    }

    /**
     * Reads the body.
     *
     * @param most its largest size in bytes
     * @throws ProblemException if it is larger
     */
    byte[] body(int most) {
        if (request.getLength() > most) {
            throw tooLarge(most);
        }
        try (InputStream in = Content.Source.asInputStream(request)) {
            byte[] body = in.readNBytes(most + 1);
            if (body.length > most) {
                throw tooLarge(most);
            }
            whenBodyIsRead.run();
            return body;
        } catch (IOException e) {
            throw new ProblemException(400, "The body did not come to its end");
        }
    }

    private static ProblemException tooLarge(int most) {
        return new ProblemException(413, "The body may have " + most + " bytes: select fewer events at a time");
    }
}
