package dev.twinbox.relay.operator;

import dev.twinbox.relay.jdbc.ActionTable;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObjectBuilder;
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
    public static JsonObjectBuilder page(ActionTable log, long before, int most) throws SQLException {
        List<ActionTable.Line> lines = log.page(before, most);
        JsonArrayBuilder actions = Json.createArrayBuilder();
        lines.forEach(line -> actions.add(of(line)));
        JsonObjectBuilder page = Json.createObjectBuilder().add("actions", actions);
        if (lines.size() == most) {
            page.add("next", lines.get(most - 1).number());
        }
        return page;
    }

    /** What a change does not have is left out. */
    public static JsonObjectBuilder of(ActionTable.Line line) {
        ActionTable.Action action = line.action();
        JsonObjectBuilder json = Json.createObjectBuilder()
                .add("number", line.number())
                .add("at", line.at().toString())
                .add("who", action.who())
                .add("via", action.via())
                .add("action", action.action());
        if (action.selection() != null) {
            json.add("selection", action.selection());
        }
        if (action.events() != null) {
            json.add("events", action.events());
        }
        return json;
    }
}
