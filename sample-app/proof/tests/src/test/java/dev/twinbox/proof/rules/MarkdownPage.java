package dev.twinbox.proof.rules;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A page of Markdown, as far as {@link Docs} asks: prose, table cells, line lengths, links and anchors. It knows the Markdown that this project writes:
 * fenced code, tables whose rows begin with a bar, lists, quotes and headings that begin with {@code #}.
 */
final class MarkdownPage {
    private static final Pattern FENCE = Pattern.compile("^\\s*(```+|~~~+).*");
    private static final Pattern HEADING = Pattern.compile("^#{1,6}\\s+(.*?)\\s*#*$");
    private static final Pattern ITEM = Pattern.compile("^\\s*(?:[-*+]|\\d+[.)])\\s+(.*)");
    private static final Pattern SEPARATOR = Pattern.compile("[|:\\s-]+");
    private static final Pattern BAR = Pattern.compile("(?<!\\\\)\\|");
    private static final Pattern CODE = Pattern.compile("(`+)(?!`)(.+?)(?<!`)\\1(?!`)");
    private static final Pattern LINK = Pattern.compile("!?\\[((?:[^\\[\\]]|\\[[^\\[\\]]*\\])*)\\]\\(([^)\\s]+)\\)");
    private static final Pattern COMMENT = Pattern.compile("<!--.*?-->");

    /** After the mark comes a space and then anything but a small letter, so that "e.g. this" is one sentence. */
    private static final Pattern SENTENCE_END = Pattern.compile("(?<=[.!?][)\"'”]?)\\s+(?![\\p{Ll}])");

    private final List<Text> lines = new ArrayList<>();
    private final List<Text> prose = new ArrayList<>();
    private final List<Text> cells = new ArrayList<>();
    private final List<Text> headings = new ArrayList<>();

    private MarkdownPage() {}

    /** A piece of the page and the number of the line on which it begins. */
    record Text(int line, String text) {

        /** A code span counts as one word, however long it is: it is a name, and nobody can shorten it. */
        int words() {
            return (int) Stream.of(plain(CODE.matcher(text).replaceAll("Code")).split("\\s+|<br>"))
                    .filter(word -> word.chars().anyMatch(Character::isLetterOrDigit))
                    .count();
        }

        @Override
        public String toString() {
            return "line " + line + ": " + text;
        }
    }

    static MarkdownPage parse(String markdown) {
        MarkdownPage page = new MarkdownPage();
        page.read(markdown.lines().toList());
        return page;
    }

    private void read(List<String> all) {
        Paragraph paragraph = new Paragraph();
        String fence = "";
        for (int i = 0; i < all.size(); i++) {
            String line = all.get(i);
            Matcher mark = FENCE.matcher(line);
            if (!fence.isEmpty()) {
                fence = mark.matches() && line.strip().startsWith(fence) ? "" : fence;
            } else if (mark.matches()) {
                paragraph.end();
                fence = mark.group(1);
            } else {
                readLine(new Text(i + 1, line), paragraph);
            }
        }
        paragraph.end();
    }

    private void readLine(Text line, Paragraph paragraph) {
        String text = COMMENT.matcher(line.text()).replaceAll("").replaceFirst("^\\s*>\\s?", "");
        Matcher heading = HEADING.matcher(text);
        Matcher item = ITEM.matcher(text);
        if (text.stripLeading().startsWith("|")) {
            paragraph.end();
            readRow(new Text(line.line(), text.strip()));
            return;
        }
        lines.add(line);
        if (text.isBlank()) {
            paragraph.end();
        } else if (heading.matches()) {
            paragraph.end();
            headings.add(new Text(line.line(), heading.group(1)));
            prose.add(new Text(line.line(), heading.group(1)));
        } else if (item.matches()) {
            paragraph.end();
            paragraph.add(line.line(), item.group(1));
        } else {
            paragraph.add(line.line(), text);
        }
    }

    private void readRow(Text row) {
        if (!SEPARATOR.matcher(row.text()).matches()) {
            BAR.splitAsStream(row.text())
                    .map(String::strip)
                    .filter(cell -> !cell.isEmpty())
                    .forEach(cell -> cells.add(new Text(row.line(), cell)));
        }
    }

    /** Collects the lines of a paragraph or list item, which ends where something else begins. */
    private final class Paragraph {
        private final StringBuilder text = new StringBuilder();
        private int begin;

        void add(int line, String more) {
            if (text.isEmpty()) {
                begin = line;
            }
            text.append(text.isEmpty() ? "" : " ").append(more.strip());
        }

        void end() {
            if (!text.isEmpty()) {
                prose.add(new Text(begin, text.toString()));
                text.setLength(0);
            }
        }
    }

    /** Sentences of paragraphs, list items and headings, without those of tables. */
    List<Text> sentences() {
        return prose.stream()
                .flatMap(paragraph -> sentences(paragraph.text()).map(text -> new Text(paragraph.line(), text)))
                .toList();
    }

    private static Stream<String> sentences(String paragraph) {
        List<String> spans = new ArrayList<>();
        Matcher code = CODE.matcher(paragraph);
        // A mark inside a code span ends no sentence: each span is taken out and put back afterwards.
        String withoutCode = code.replaceAll(span -> {
            spans.add(span.group());
            return "\uE000" + (spans.size() - 1) + "\uE001";
        });
        return SENTENCE_END
                .splitAsStream(plain(withoutCode))
                .map(sentence -> Pattern.compile("\uE000(\\d+)\uE001")
                        .matcher(sentence)
                        .replaceAll(span -> Matcher.quoteReplacement(spans.get(Integer.parseInt(span.group(1))))))
                .filter(sentence -> !sentence.isBlank());
    }

    /** Table cells that hold something. */
    List<Text> cells() {
        return List.copyOf(cells);
    }

    /** Lines outside of tables and code blocks. */
    List<Text> lines() {
        return List.copyOf(lines);
    }

    /** Targets of links and pictures, those in tables too. */
    List<Text> links() {
        return Stream.concat(prose.stream(), cells.stream())
                .flatMap(part -> LINK.matcher(CODE.matcher(part.text()).replaceAll("Code"))
                        .results()
                        .map(link -> new Text(part.line(), link.group(2))))
                .toList();
    }

    /**
     * What a link can name behind {@code #}, by GitHub's rule: the heading in small letters without punctuation, hyphens for spaces, and a number from
     * the second one of a name on.
     */
    Set<String> anchors() {
        Map<String, Integer> seen = new HashMap<>();
        Set<String> anchors = new LinkedHashSet<>();
        for (Text heading : headings) {
            String name = plain(heading.text())
                    .toLowerCase(Locale.ROOT)
                    .replaceAll("[^\\p{L}\\p{M}\\p{N}\\p{Pc} -]", "")
                    .replace(' ', '-');
            int before = seen.merge(name, 1, Integer::sum) - 1;
            anchors.add(before == 0 ? name : name + "-" + before);
        }
        return anchors;
    }

    /** Without the marks of emphasis and with the texts of links instead of the links. */
    private static String plain(String text) {
        return LINK.matcher(text).replaceAll("$1").replace("*", "");
    }
}
