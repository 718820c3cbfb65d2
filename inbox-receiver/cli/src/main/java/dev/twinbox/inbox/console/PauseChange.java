package dev.twinbox.inbox.console;

import dev.twinbox.DeliveryContract;
import dev.twinbox.SchemaException;
import dev.twinbox.console.actions.SelectionText;
import dev.twinbox.inbox.jdbc.HandlerTable;
import dev.twinbox.inbox.jdbc.PausedTable;
import dev.twinbox.inbox.jdbc.PausedTable.Kind;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Pauses and resumes topics and handlers. It only changes rows: running applications obey within a second. For one change
 * on one connection in auto-commit mode.
 */
public final class PauseChange {
    private final Connection connection;
    private final OperatorActions actions;
    private final PausedTable table;
    private final List<HandlerTable.Row> announced;
    private final List<String> warnings = new ArrayList<>();

    /** A name of a topic or a handler in a group. */
    private record Target(String group, Kind kind, String name) {}

    /** @throws SchemaException if the tables are too old */
    public PauseChange(Connection connection, SqlIdentifier inbox, OperatorActions actions) throws SQLException {
        this.connection = connection;
        this.actions = actions;
        this.table = PausedTable.of(inbox);
        if (!table.exists(connection)) {
            throw new SchemaException("topics and handlers cannot be paused or resumed, there is no table "
                    + PausedTable.name(inbox) + ": run \"twinbox-inbox-cli.jar migrate\" as the tables' owner");
        }
        this.announced = HandlerTable.of(inbox).list(connection, null);
    }

    /** What an operator should know after the change. */
    public List<String> warnings() {
        return warnings;
    }

    /**
     * Pauses, each name in a transaction of its own. Idempotent.
     *
     * @return what is paused now of the selection
     * @throws IllegalArgumentException if a name is not known; then nothing is paused
     */
    public List<PausedTable.Row> pause(PauseSelection which) throws SQLException {
        List<Target> targets = new ArrayList<>();
        for (String topic : which.topics()) {
            groupsOfTopic(topic, which.group()).forEach(group -> targets.add(new Target(group, Kind.TOPIC, topic)));
        }
        for (String handler : which.handlers()) {
            groupsOfHandler(handler, which.group())
                    .forEach(group -> targets.add(new Target(group, Kind.HANDLER, handler)));
        }
        for (Target each : targets) {
            change("pause", which, () -> table.pause(connection, each.group(), each.kind(), each.name()) ? 1 : 0);
        }
        return table.list(connection).stream()
                .filter(row -> targets.contains(new Target(row.group(), row.kind(), row.name())))
                .toList();
    }

    /** Resumes topics, each in a transaction of its own. Idempotent. Returns those that were paused. */
    public Set<String> resumeTopics(PauseSelection which) throws SQLException {
        return resume(which, Kind.TOPIC, which.topics());
    }

    /** Does the same with handlers. */
    public Set<String> resumeHandlers(PauseSelection which) throws SQLException {
        return resume(which, Kind.HANDLER, which.handlers());
    }

    private Set<String> resume(PauseSelection which, Kind kind, List<String> names) throws SQLException {
        Set<String> resumed = new LinkedHashSet<>();
        for (String name : names) {
            if (change("resume", which, () -> table.resume(connection, which.group(), kind, name)) > 0) {
                resumed.add(name);
            }
        }
        return resumed;
    }

    /** All changes of one selection have one row in the action log. */
    private int change(String action, PauseSelection which, OperatorActions.Change<Integer> change)
            throws SQLException {
        return actions.inTransaction(action, text(which), Integer::longValue, change);
    }

    private static SelectionText text(PauseSelection which) {
        SelectionText text = new SelectionText();
        which.topics().forEach(topic -> text.with(Kind.TOPIC.text(), topic));
        which.handlers().forEach(handler -> text.with(Kind.HANDLER.text(), handler));
        return text.with("group", which.group());
    }

    /** A topic may be paused before a handler for it is deployed, if the group is given. */
    private Collection<String> groupsOfTopic(String topic, @Nullable String group) {
        List<HandlerTable.Row> meant = announced.stream()
                .filter(row -> row.handler().topic().equals(topic) && isOf(group, row))
                .toList();
        if (!meant.isEmpty()) {
            return groups(meant);
        }
        Set<String> known = announced.stream()
                .filter(row -> isOf(group, row))
                .map(row -> row.handler().topic())
                .collect(Collectors.toCollection(TreeSet::new));
        String problem = "no announced handler" + ofGroup(group) + " has topic \"" + topic + "\"; known topics: "
                + listed(known);
        if (group == null) {
            throw new IllegalArgumentException(
                    problem + ". Correct the name. To pause it before a handler is deployed, give the group, too");
        }
        warnings.add("check the names: " + problem);
        return List.of(group);
    }

    /** Nothing is parked for a handler that is called at most once. */
    private Collection<String> groupsOfHandler(String handler, @Nullable String group) {
        List<HandlerTable.Row> meant = announced.stream()
                .filter(row -> row.handler().handler().equals(handler) && isOf(group, row))
                .toList();
        if (meant.isEmpty()) {
            throw new IllegalArgumentException("no handler \"" + handler + "\"" + ofGroup(group)
                    + " is announced; correct the name, there are: "
                    + listed(announced.stream()
                            .filter(row -> isOf(group, row))
                            .map(row -> row.handler().handler() + " (group " + row.group() + ")")
                            .collect(Collectors.toCollection(TreeSet::new))));
        }
        meant.stream()
                .filter(row -> row.handler().delivery() == DeliveryContract.AT_MOST_ONCE)
                .findFirst()
                .ifPresent(row -> {
                    throw new IllegalArgumentException("handler \"" + handler
                            + "\" is called at most once, so nothing can be parked for it: pause its topic \""
                            + row.handler().topic() + "\"");
                });
        return groups(meant);
    }

    private static boolean isOf(@Nullable String group, HandlerTable.Row row) {
        return group == null || group.equals(row.group());
    }

    private static Set<String> groups(List<HandlerTable.Row> rows) {
        return rows.stream().map(HandlerTable.Row::group).collect(Collectors.toCollection(TreeSet::new));
    }

    private static String ofGroup(@Nullable String group) {
        return group == null ? "" : " of group \"" + group + "\"";
    }

    private static String listed(Collection<String> names) {
        return names.isEmpty() ? "none" : String.join(", ", names);
    }
}
