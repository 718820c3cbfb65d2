package dev.twinbox.inbox.console;

import dev.twinbox.console.operator.JsonText;
import dev.twinbox.inbox.jdbc.HandlerTable;
import dev.twinbox.inbox.jdbc.PausedTable;
import dev.twinbox.inbox.jdbc.SelectedRows;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How the tables stand, whether the application runs or not.
 *
 * @param version of the tables
 * @param estimate of the rows of the inbox; null: not known
 * @param groups what is parked, by group, handler and state
 * @param unowned parked events that nobody takes
 * @param paused topics and handlers that an operator has paused
 */
public record TableStatus(
        String version,
        @Nullable Long estimate,
        List<SelectedRows.Group> groups,
        List<HandlerTable.Unowned> unowned,
        List<PausedTable.Row> paused) {

    /** As of now. */
    public static TableStatus of(Connection connection, SqlIdentifier inbox) throws SQLException {
        SelectedRows rows = new SelectedRows(inbox);
        long estimate = rows.estimatedRows(connection);
        return new TableStatus(
                rows.version(connection),
                estimate < 0 ? null : estimate,
                rows.groups(connection),
                HandlerTable.of(inbox).unowned(connection, null),
                PausedTable.of(inbox).list(connection));
    }

    /** When the oldest of the parked events was parked; null: there are none. */
    public @Nullable String oldest() {
        return groups.stream()
                .map(SelectedRows.Group::oldest)
                .min(Comparator.naturalOrder())
                .orElse(null);
    }

    /** As one document. */
    public JsonText json() {
        return new JsonText()
                .with("version", version)
                .with("inboxRows", estimate)
                .with("oldestParkedAt", oldest())
                .with("parked", groups.stream().map(TableStatus::json).toList())
                .with("unowned", unowned.stream().map(TableStatus::json).toList())
                .with("pausedTopics", PauseJson.paused(paused, PausedTable.Kind.TOPIC))
                .with("pausedHandlers", PauseJson.paused(paused, PausedTable.Kind.HANDLER));
    }

    private static JsonText json(HandlerTable.Unowned events) {
        return new JsonText()
                .with("group", events.group())
                .with("handler", events.handler())
                .with("topic", events.topic())
                .with("type", events.type())
                .with("number", events.number())
                .with("seenAt", events.seenAt());
    }

    private static JsonText json(SelectedRows.Group group) {
        return new JsonText()
                .with("group", group.group())
                .with("handler", group.handler().isEmpty() ? null : group.handler())
                .with("state", group.state())
                .with("number", group.number())
                .with("oldestParkedAt", group.oldest());
    }
}
