package dev.twinbox.console;

/** What is served at a path. */
@FunctionalInterface
public interface WebPage {

    /** Called by many threads at the same time. */
    WebAnswer answer(WebRequest request);
}
