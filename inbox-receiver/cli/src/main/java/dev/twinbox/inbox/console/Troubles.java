package dev.twinbox.inbox.console;

import dev.twinbox.inbox.jdbc.HandlerTable;
import dev.twinbox.inbox.jdbc.SelectedRows;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;

/** What an operator should look at first, each with the remedy. */
final class Troubles {

    private Troubles() {}

    /** By what the tables know. */
    static List<String> of(TableStatus tables, GroupFacts facts) {
        List<String> troubles = new ArrayList<>();
        tables.groups().stream()
                .map(Troubles::parked)
                .filter(line -> !line.isEmpty())
                .forEach(troubles::add);
        tables.unowned()
                .forEach(events -> troubles.add("no running instance has handler " + events.handler() + " for type "
                        + events.type() + " in group " + events.group() + ", so " + events.number()
                        + " parked events wait: start the application, or hand them over"));
        silent(facts)
                .forEach(group -> troubles.add("no instance of group " + group
                        + " has announced its handlers in the last minute: start the application"));
        return troubles;
    }

    private static String parked(SelectedRows.Group group) {
        String what = group.number() + " events of "
                + (group.handler().isEmpty() ? "no handler" : "handler " + group.handler()) + " in group "
                + group.group();
        return switch (group.state()) {
            case "DEAD" -> what + " are given up, and their keys wait: retry or discard them";
            case "PASSED" -> what + " are given up, and their keys went on: retry or discard them";
            default -> "";
        };
    }

    private static NavigableSet<String> silent(GroupFacts facts) {
        NavigableSet<String> silent = new TreeSet<>();
        facts.handlers().forEach(row -> silent.add(row.group()));
        facts.handlers().stream()
                .filter(HandlerTable.Row::isThere)
                .map(HandlerTable.Row::group)
                .forEach(silent::remove);
        return silent;
    }
}
