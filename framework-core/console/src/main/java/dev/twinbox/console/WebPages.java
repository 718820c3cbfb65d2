package dev.twinbox.console;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The paths that are served, to {@code GET} and {@code HEAD}. Each other request gets an answer that says what is wrong
 * and what is possible.
 */
public final class WebPages implements WebPage {
    private static final Logger LOG = LoggerFactory.getLogger(WebPages.class);

    private static final List<String> METHODS = List.of("GET", "HEAD");
    private static final int LONGEST_ECHO = 200;

    private final Map<String, Supplier<WebAnswer>> pages = new LinkedHashMap<>();
    private final String server;

    /**
     * Without pages.
     *
     * @param server whose log has the reason of what cannot be answered, for example "relay"
     */
    public WebPages(String server) {
        this.server = server;
    }

    /** Serves a page at this path and at no other. */
    public WebPages add(String path, Supplier<WebAnswer> page) {
        pages.put(path, page);
        return this;
    }

    @Override
    public WebAnswer answer(WebRequest request) {
        Supplier<WebAnswer> page = pages.get(request.path());
        if (page == null) {
            return WebAnswer.text(
                    404,
                    "There is nothing at " + shortened(request.sentPath()) + ": ask for "
                            + String.join(", ", pages.keySet()));
        }
        if (!METHODS.contains(request.method())) {
            return WebAnswer.text(
                            405,
                            request.path() + " can only be read, " + shortened(request.method())
                                    + " is not possible: use " + String.join(" or ", METHODS))
                    .with("Allow", String.join(", ", METHODS));
        }
        try {
            return page.get();
        } catch (RuntimeException e) {
            LOG.error("{} cannot be answered; report it", request.path(), e);
            return WebAnswer.text(500, request.path() + " cannot be answered, the " + server + "'s log says why");
        }
    }

    private static String shortened(String value) {
        return value.length() <= LONGEST_ECHO ? value : value.substring(0, LONGEST_ECHO) + "…";
    }
}
