package dev.twinbox.console;

import java.security.MessageDigest;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Who may do what over HTTP.
 *
 * <ul>
 *   <li>A page in a browser must not reach the API under a name of its own (DNS rebinding), or from another site (CSRF).
 *       So the host is one of ours, and an origin is the host's.
 *   <li>On loopback everybody on this host sees everything but payloads. A request that was forwarded is not from here.
 *   <li>All else needs a token, in a header, or the session of a browser that has sent one. Tokens are compared in
 *       constant time. With a session nothing is changed unless the browser names its page's origin.
 * </ul>
 */
public final class Access {
    private static final Set<String> LOOPBACK_NAMES = Set.of("localhost", "127.0.0.1", "[::1]", "::1");
    private static final List<String> FORWARDED =
            List.of("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP");
    private static final Set<String> OWN_SITE = Set.of("same-origin", "none");
    private static final Set<String> READING = Set.of("GET", "HEAD");
    private static final String BEARER = "bearer ";
    private static final int REQUESTS_PER_SECOND = 50;
    private static final int WRONG_TOKENS_PER_SECOND = 5;

    private final boolean isOnLoopback;
    private final Set<String> names;
    private final byte @Nullable [] reader;
    private final byte @Nullable [] operator;
    private final RateLimit requests;
    private final RateLimit wrongTokens;
    private final Sessions sessions;

    /**
     * Nothing is asked yet.
     *
     * @param isOnLoopback whether the server listens on the loopback address only
     * @param names of this host, in lower case, under which it may be asked; those of loopback and the address itself
     *     are always among them
     * @param reader token of those who may see payloads; null: there is none
     * @param operator token of those who may change; null: there is none
     * @param nanoTime monotonic
     */
    public Access(
            boolean isOnLoopback,
            Set<String> names,
            @Nullable String reader,
            @Nullable String operator,
            LongSupplier nanoTime) {
        this.isOnLoopback = isOnLoopback;
        this.names = Set.copyOf(names);
        this.reader = reader == null ? null : Digests.bytes(reader);
        this.operator = operator == null ? null : Digests.bytes(operator);
        this.requests = new RateLimit(REQUESTS_PER_SECOND, nanoTime);
        this.wrongTokens = new RateLimit(WRONG_TOKENS_PER_SECOND, nanoTime);
        this.sessions = new Sessions(nanoTime);
    }

    /**
     * The role of who sends the request.
     *
     * @throws ProblemException if the request is refused
     */
    Role role(WebRequest request) {
        stranger(request);
        List<String> tokens = request.headers("Authorization");
        if (!tokens.isEmpty()) {
            return roleOf(tokens);
        }
        Role loggedIn = sessionRole(request);
        if (loggedIn != null) {
            return loggedIn;
        }
        if (isOnLoopback
                && FORWARDED.stream().allMatch(name -> request.headers(name).isEmpty())) {
            return Role.VISITOR;
        }
        throw new ProblemException(401, "A token is needed: send it as \"Authorization: Bearer …\", or log in");
    }

    /**
     * Lets a request pass that comes from no page of another site.
     *
     * @throws ProblemException if the request is refused
     */
    Role stranger(WebRequest request) {
        admit(request);
        checkOrigin(request);
        return Role.STRANGER;
    }

    /**
     * Lets a request pass that asks for nothing secret.
     *
     * @throws ProblemException if the request is refused
     */
    void admit(WebRequest request) {
        if (!requests.tryPass()) {
            throw new ProblemException(
                    429, "More than " + REQUESTS_PER_SECOND + " requests in a second: ask less often");
        }
        checkHost(request);
    }

    private void checkHost(WebRequest request) {
        String host = String.valueOf(request.host()).toLowerCase(Locale.ROOT);
        List<String> header = request.headers("Host");
        String named = header.size() == 1 ? withoutPort(header.get(0)).toLowerCase(Locale.ROOT) : host;
        if (!isOurs(host, request) || !isOurs(named, request)) {
            throw new ProblemException(
                    421, "This host is not asked by that name: use its address, or configure the name");
        }
    }

    private boolean isOurs(String host, WebRequest request) {
        return LOOPBACK_NAMES.contains(host)
                || names.contains(host)
                || (!isOnLoopback && host.equals(request.localAddress()));
    }

    private static String withoutPort(String host) {
        return host.replaceFirst(":\\d*$", "");
    }

    private static void checkOrigin(WebRequest request) {
        List<String> hosts = request.headers("Host");
        String scheme = request.isEncrypted() ? "https://" : "http://";
        boolean isOwn = request.headers("Origin").stream()
                .allMatch(origin -> hosts.stream().anyMatch(host -> origin.equalsIgnoreCase(scheme + host)));
        if (!isOwn || !OWN_SITE.containsAll(request.headers("Sec-Fetch-Site"))) {
            throw new ProblemException(
                    403,
                    "The request comes from a page of another site. A proxy with TLS has to keep Host and to send "
                            + "X-Forwarded-Proto");
        }
    }

    private @Nullable Role sessionRole(WebRequest request) {
        String id = request.cookie(Sessions.cookieName(request));
        Role role = id == null ? null : sessions.role(id);
        if (role != null
                && !READING.contains(request.method())
                && request.headers("Origin").isEmpty()) {
            throw new ProblemException(403, "A change with a session needs the page's Origin: browsers send it");
        }
        return role;
    }

    /** The id of a new session. */
    String beginSession(Role role) {
        return sessions.begin(role);
    }

    /** Ends the session of the request, if it has one. */
    void endSession(WebRequest request) {
        String id = request.cookie(Sessions.cookieName(request));
        if (id != null) {
            sessions.end(id);
        }
    }

    private Role roleOf(List<String> headers) {
        String header = headers.get(0);
        boolean isOne = headers.size() == 1 && header.toLowerCase(Locale.ROOT).startsWith(BEARER);
        return roleOf(isOne ? header.substring(BEARER.length()).strip() : "");
    }

    /**
     * The role of whoever has this token.
     *
     * @throws ProblemException if it is wrong
     */
    Role roleOf(String token) {
        byte[] digest = Digests.bytes(token);
        boolean isOperator = operator != null && MessageDigest.isEqual(operator, digest);
        boolean isReader = reader != null && MessageDigest.isEqual(reader, digest);
        if (isOperator || isReader) {
            return isOperator ? Role.OPERATOR : Role.READER;
        }
        throw wrongTokens.tryPass()
                ? new ProblemException(401, "The token is wrong")
                : new ProblemException(429, "Too many wrong tokens: check the one that you send");
    }
}
