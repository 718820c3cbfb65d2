package dev.twinbox.lock;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.regex.Pattern;

/**
 * Where Redis is, without the secrets.
 *
 * @param database number of the logical database
 * @param tls whether the connection is encrypted
 */
record RedisAddress(String host, int port, int database, boolean tls) {

    private static final int DEFAULT_PORT = 6379;
    private static final String SHAPE = "must be redis://HOST, redis://HOST:PORT or redis://HOST:PORT/DATABASE, or the "
            + "same with rediss: for TLS";
    private static final Pattern DATABASE = Pattern.compile("/?|/\\d{1,4}");

    /**
     * Reads a URL.
     *
     * @throws IllegalArgumentException whose message goes on after the value and does not contain it
     */
    static RedisAddress parse(String value) {
        if (value.indexOf('@') >= 0) {
            throw new IllegalArgumentException("must not hold user or password: put them into "
                    + "twinbox.locks.redis.user and twinbox.locks.redis.password");
        }
        URI uri = uri(value.strip());
        boolean isTls = "rediss".equals(uri.getScheme());
        if ((!isTls && !"redis".equals(uri.getScheme())) || uri.getHost() == null) {
            throw new IllegalArgumentException(SHAPE + underscore(uri));
        }
        if (uri.getQuery() != null
                || uri.getFragment() != null
                || !DATABASE.matcher(uri.getPath()).matches()
                || uri.getPort() == 0
                || uri.getPort() > 65_535) {
            throw new IllegalArgumentException(SHAPE);
        }
        String database = uri.getPath().replace("/", "");
        return new RedisAddress(
                uri.getHost(),
                uri.getPort() < 0 ? DEFAULT_PORT : uri.getPort(),
                database.isEmpty() ? 0 : Integer.parseInt(database),
                isTls);
    }

    /** A URL has no host then, although a name server may know it. */
    private static String underscore(URI uri) {
        String authority = uri.getRawAuthority();
        return uri.getHost() == null && authority != null && authority.indexOf('_') >= 0
                ? "; no host of a URL may have an underscore: use another name of it"
                : "";
    }

    /** Without the exception of the parser, which repeats the value. */
    private static URI uri(String value) {
        try {
            return new URI(value);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(SHAPE + " (" + e.getReason() + " at index " + e.getIndex() + ")");
        }
    }

    @Override
    public String toString() {
        return (tls ? "rediss://" : "redis://") + host + ':' + port + '/' + database;
    }
}
