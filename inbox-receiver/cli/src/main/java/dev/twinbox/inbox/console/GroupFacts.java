package dev.twinbox.inbox.console;

import dev.twinbox.DeliveryContract;
import dev.twinbox.inbox.jdbc.HandledRows;
import dev.twinbox.inbox.jdbc.HandlerTable;
import dev.twinbox.inbox.jdbc.InboxRows;
import dev.twinbox.inbox.jdbc.OffsetTable;
import dev.twinbox.inbox.jdbc.RetentionTable;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What the tables know of consumer groups.
 *
 * @param handlers that instances have announced
 * @param named handlers that have handled events
 * @param offsets that the database remembers
 * @param retention how far the deletion of old rows got
 */
record GroupFacts(
        List<HandlerTable.Row> handlers,
        List<InboxRows.Name> named,
        List<OffsetTable.Row> offsets,
        List<RetentionTable.Row> retention) {
    private static final String AT_MOST_ONCE = "-at-most-once";

    static GroupFacts of(Connection connection, SqlIdentifier inbox) throws SQLException {
        return new GroupFacts(
                HandlerTable.of(inbox).list(connection, null),
                new InboxRows(inbox).handlers(connection),
                OffsetTable.of(inbox).list(connection),
                RetentionTable.of(inbox).list(connection));
    }

    /** The groups of applications. */
    SortedSet<String> groups() {
        SortedSet<String> groups = new TreeSet<>();
        handlers.forEach(row -> groups.add(row.group()));
        named.forEach(name -> groups.add(name.group()));
        offsets.forEach(row -> groups.add(row.group()));
        retention.forEach(row -> groups.add(row.group()));
        return groups;
    }

    /** The groups on Kafka: handlers that are called at most once have one of their own. */
    SortedSet<String> groupsOnKafka() {
        SortedSet<String> groups = groups();
        handlers.stream()
                .filter(row -> row.handler().delivery() == DeliveryContract.AT_MOST_ONCE)
                .forEach(row -> groups.add(row.group() + AT_MOST_ONCE));
        return groups;
    }

    /** The topics of the announced handlers. */
    SortedSet<String> topics() {
        return handlers.stream().map(row -> row.handler().topic()).collect(Collectors.toCollection(TreeSet::new));
    }

    /** The handlers that may know an event: those that have handled some, and the announced ones. */
    List<InboxRows.Name> names() {
        SortedSet<String> known = new TreeSet<>();
        List<InboxRows.Name> names = new ArrayList<>();
        named.forEach(name -> add(name.group(), name.handler(), known, names));
        handlers.forEach(row -> add(row.group(), row.handler().handler(), known, names));
        return names;
    }

    private static void add(String group, String handler, SortedSet<String> known, List<InboxRows.Name> names) {
        if (known.add(group + '\0' + handler)) {
            names.add(new InboxRows.Name(group, handler));
        }
    }

    /** What the handlers of these groups have done in the last hour. */
    List<HandledRows.Effects> effects(Connection connection, SqlIdentifier inbox) throws SQLException {
        List<HandledRows.Effects> effects = new ArrayList<>();
        HandledRows rows = new HandledRows(inbox);
        for (String group : groups()) {
            effects.addAll(rows.lastHour(connection, group));
        }
        return effects;
    }
}
