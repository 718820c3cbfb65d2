package dev.twinbox.console.config;

import dev.twinbox.config.Secret;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where a process serves operators over HTTP, and whom.
 *
 * @param host address to listen on
 * @param port 0: any free one
 * @param names of this host, in lower case, under which the API may be asked
 * @param readerToken of those who may see payloads; null: there is none
 * @param operatorToken of those who may change something; null: there is none
 * @param isInsecure whether the API is served on an address that is not loopback, too
 * @param showsPayloads whether whoever has a token may see payloads
 */
public record HttpConfig(
        String host,
        int port,
        Set<String> names,
        @Nullable Secret readerToken,
        @Nullable Secret operatorToken,
        boolean isInsecure,
        boolean showsPayloads) {

    public HttpConfig {
        names = Set.copyOf(names);
    }

    /** Without tokens. */
    public HttpConfig(String host, int port) {
        this(host, port, Set.of(), null, null, false, true);
    }

    /** Whether anybody has a token. */
    public boolean hasToken() {
        return readerToken != null || operatorToken != null;
    }
}
