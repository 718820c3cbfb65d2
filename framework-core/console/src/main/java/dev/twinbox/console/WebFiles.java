package dev.twinbox.console;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * The files of a jar that make up the pages. They hold nothing secret: what they show comes from the API, and each of
 * its calls is checked. A browser loads nothing from elsewhere for them, and runs no script that is not a file here.
 */
public final class WebFiles implements WebPage {
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    private static final String INDEX = "index.html";
    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8");

    private final String prefix;
    private final Access access;
    private final WebPages pages;

    /**
     * Reads the files.
     *
     * @param server whose pages these are, for messages
     * @param prefix of all paths, without a slash at the end
     * @param neighbour the files are beside this class in the jar
     * @param names of the files; {@code index.html} is the page itself
     */
    public WebFiles(String server, String prefix, Access access, Class<?> neighbour, String... names) {
        this.prefix = prefix;
        this.access = access;
        this.pages = new WebPages(server);
        pages.add(prefix, () -> WebAnswer.text(308, "See " + prefix + "/").with("Location", prefix + "/"));
        for (String name : names) {
            WebAnswer file = read(neighbour, name);
            pages.add(prefix + "/" + (name.equals(INDEX) ? "" : name), () -> file);
        }
    }

    private static WebAnswer read(Class<?> neighbour, String name) {
        String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
        try (InputStream in = neighbour.getResourceAsStream(name)) {
            if (in == null || type == null) {
                throw new IllegalStateException(name + " is not in the jar; report it");
            }
            return WebAnswer.of(200, type, new String(in.readAllBytes(), StandardCharsets.UTF_8))
                    .with("Content-Security-Policy", POLICY)
                    .with("Referrer-Policy", "no-referrer");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether this path is one of the pages', known or not. */
    public boolean owns(String path) {
        return path.equals(prefix) || path.startsWith(prefix + "/");
    }

    @Override
    public WebAnswer answer(WebRequest request) {
        try {
            access.admit(request);
            return pages.answer(request);
        } catch (ProblemException e) {
            return e.answer();
        }
    }
}
