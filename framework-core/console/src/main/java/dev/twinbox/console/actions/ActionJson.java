package dev.twinbox.console.actions;

import dev.twinbox.console.operator.JsonText;
import jakarta.json.JsonObject;
import java.sql.SQLException;
import java.util.List;

/** A change by an operator as JSON. */
public final class ActionJson {

    private ActionJson() {}

    /**
     * A page of the action log, newest first. Empty if the tables have none.
     *
     * @param before number of the last change of the page before; {@code Long.MAX_VALUE}: this is the first page
     */
    public static JsonObject page(ActionLog log, long before, int most) throws SQLException {
        List<ActionLog.Line> lines = log.page(before, most);
        return new JsonText()
                .with("actions", lines.stream().map(ActionJson::of).toList())
                .with("next", lines.size() == most ? lines.get(most - 1).number() : null)
                .build();
    }

    /** What a change does not have is left out. */
    public static JsonText of(ActionLog.Line line) {
        ActionLog.Action action = line.action();
        return new JsonText()
                .with("number", line.number())
                .with("at", line.at())
                .with("who", action.who())
                .with("via", action.via())
                .with("action", action.action())
                .with("selection", action.selection())
                .with("events", action.events());
    }
}
