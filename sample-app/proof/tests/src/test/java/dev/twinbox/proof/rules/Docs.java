package dev.twinbox.proof.rules;

import dev.twinbox.proof.rules.MarkdownPage.Text;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** {@code README.md} and all pages below {@code docs}, and what is wrong with them: each rule answers with the places that break it. */
final class Docs {
    static final int WORDS_IN_A_SENTENCE = 30;
    static final int WORDS_IN_A_CELL = 40;
    static final int CHARACTERS_IN_A_LINE = 120;

    private final Path root;
    private final Map<Path, MarkdownPage> pages = new TreeMap<>();

    private Docs(Path root) {
        this.root = root.toAbsolutePath().normalize();
    }

    /** @param root the folder that holds {@code README.md} and {@code docs} */
    static Docs below(Path root) throws IOException {
        Docs docs = new Docs(root);
        try (Stream<Path> files = Files.walk(docs.root.resolve("docs"))) {
            Stream.concat(Stream.of(docs.root.resolve("README.md")), files)
                    .filter(file -> file.toString().endsWith(".md"))
                    .forEach(file -> docs.pages.put(file, read(file)));
        }
        return docs;
    }

    private static MarkdownPage read(Path file) {
        try {
            return MarkdownPage.parse(Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    int pages() {
        return pages.size();
    }

    List<String> longSentences() {
        return places(MarkdownPage::sentences, sentence -> sentence.words() > WORDS_IN_A_SENTENCE);
    }

    List<String> longCells() {
        return places(MarkdownPage::cells, cell -> cell.words() > WORDS_IN_A_CELL);
    }

    List<String> longLines() {
        return places(
                MarkdownPage::lines,
                line -> line.text().codePointCount(0, line.text().length()) > CHARACTERS_IN_A_LINE);
    }

    private List<String> places(Function<MarkdownPage, List<Text>> parts, Predicate<Text> isWrong) {
        List<String> wrong = new ArrayList<>();
        pages.forEach((file, page) ->
                parts.apply(page).stream().filter(isWrong).forEach(part -> wrong.add(place(file, part))));
        return wrong;
    }

    private String place(Path file, Text part) {
        return root.relativize(file) + ", " + part;
    }

    /** Relative links whose file or anchor is not there. Links into the web are not followed. */
    List<String> brokenLinks() {
        List<String> broken = new ArrayList<>();
        pages.forEach((file, page) -> page.links().stream()
                .filter(link -> !isOfTheWeb(link.text()))
                .filter(link -> !leadsSomewhere(file, link.text()))
                .forEach(link -> broken.add(place(file, link))));
        return broken;
    }

    private static boolean isOfTheWeb(String link) {
        return link.matches("[a-z]+:.*");
    }

    private boolean leadsSomewhere(Path from, String link) {
        Path file = target(from, link);
        int anchor = link.indexOf('#');
        if (anchor < 0) {
            return Files.exists(file);
        }
        MarkdownPage page = pages.get(file);
        return page != null && page.anchors().contains(link.substring(anchor + 1));
    }

    private static Path target(Path from, String link) {
        int anchor = link.indexOf('#');
        String path = anchor < 0 ? link : link.substring(0, anchor);
        return path.isEmpty() ? from : from.resolveSibling(path).normalize();
    }

    /** Decisions, files of {@code docs/adr} that begin with a number, to which its index has no link. */
    List<String> unlistedDecisions() {
        Path folder = root.resolve("docs/adr");
        Set<Path> listed = linkedFrom(folder.resolve("README.md"));
        return pages.keySet().stream()
                .filter(file ->
                        file.startsWith(folder) && file.getFileName().toString().matches("\\d.*"))
                .filter(file -> !listed.contains(file))
                .map(file -> root.relativize(file).toString())
                .toList();
    }

    /** Pages below {@code docs} to which no way leads from {@code docs/README.md}. */
    List<String> unreachablePages() {
        Set<Path> reached = new HashSet<>();
        Deque<Path> open = new ArrayDeque<>(List.of(root.resolve("docs/README.md")));
        while (!open.isEmpty()) {
            Path page = open.pop();
            if (reached.add(page)) {
                open.addAll(linkedFrom(page));
            }
        }
        return pages.keySet().stream()
                .filter(file -> file.startsWith(root.resolve("docs")) && !reached.contains(file))
                .map(file -> root.relativize(file).toString())
                .toList();
    }

    private Set<Path> linkedFrom(Path file) {
        MarkdownPage page = pages.get(file);
        Set<Path> linked = new HashSet<>();
        if (page != null) {
            page.links().stream()
                    .filter(link -> !isOfTheWeb(link.text()))
                    .forEach(link -> linked.add(target(file, link.text())));
        }
        return linked;
    }
}
