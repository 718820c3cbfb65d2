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
    private static final String[] SHARED = {
        INDEX, "console.css", "console.js", "chart.js", "actions.js", "change.js", "event.js", "search.js", "stuck.js"
    };

    /** Of the WebJar; the version is the one in the POM. */
    private static final String UPLOT = "/META-INF/resources/webjars/uplot/1.6.30/dist/";

    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8");

    private final String prefix;
    private final Access access;
    private final WebPages pages;

    /**
     * The files that all consoles share: {@code index.html}, which loads {@code main.js}, and what that may import.
     *
     * @param server whose pages these are, for messages
     * @param prefix of all paths, without a slash at the end
     */
    public WebFiles(String server, String prefix, Access access) {
        this.prefix = prefix;
        this.access = access;
        this.pages = new WebPages(server);
        pages.add(prefix, () -> WebAnswer.text(308, "See " + prefix + "/").with("Location", prefix + "/"));
        add(WebFiles.class, SHARED);
        add("uplot.css", read(WebFiles.class, UPLOT + "uPlot.min.css"));
        add("uplot.js", read(WebFiles.class, UPLOT + "uPlot.esm.js"));
    }

    /**
     * Adds files.
     *
     * @param neighbour the files are beside this class in the jar
     */
    public WebFiles add(Class<?> neighbour, String... names) {
        for (String name : names) {
            add(name.equals(INDEX) ? "" : name, read(neighbour, name));
        }
        return this;
    }

    private void add(String name, WebAnswer file) {
        pages.add(prefix + "/" + name, () -> file);
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
