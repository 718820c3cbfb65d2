package dev.twinbox.proof.soak;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The grants of the page about security, for the roles of the soak. So the soak runs with what the page says. */
final class Grants {

    private static final Pattern BLOCK = Pattern.compile("(?s)\\n```sql\\n(.*?)```");

    private final List<String> outbox;
    private final List<String> inbox;

    private Grants(List<String> outbox, List<String> inbox) {
        this.outbox = outbox;
        this.inbox = inbox;
    }

    /** @param page with the grants of the outbox in its first SQL block, those of the inbox in its second */
    static Grants of(Path page) {
        try {
            Matcher block = BLOCK.matcher(Files.readString(page));
            List<List<String>> blocks = new ArrayList<>();
            while (block.find()) {
                blocks.add(statements(block.group(1)));
            }
            if (blocks.size() < 2) {
                throw new IllegalStateException(page + " has " + blocks.size() + " SQL blocks, at least 2 are needed");
            }
            return new Grants(blocks.get(0), blocks.get(1));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read the grants in " + page, e);
        }
    }

    private static List<String> statements(String block) {
        return block.lines()
                .map(line -> line.replaceAll(";?\\s*(--.*)?$", ""))
                .filter(line -> line.startsWith("grant ") && !line.contains(" on schema "))
                .map(line -> line.replace("shop.", "")
                        .replaceAll(" to app$", " to " + Roles.ORDERS)
                        .replaceAll(" to relay$", " to " + Roles.RELAY)
                        .replaceAll(" to shipping$", " to " + Roles.SHIPPING))
                .toList();
    }

    List<String> outbox() {
        return outbox;
    }

    List<String> inbox() {
        return inbox;
    }

    /** Those of a role on one table. */
    List<String> of(String table, String role) {
        List<String> own = new ArrayList<>(outbox);
        own.addAll(inbox);
        own.removeIf(grant -> !grant.endsWith(" on " + table + " to " + role));
        return own;
    }
}
