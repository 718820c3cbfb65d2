package dev.twinbox.inbox.console;

import dev.twinbox.console.Api;
import dev.twinbox.console.ProblemException;
import dev.twinbox.console.operator.JsonText;
import dev.twinbox.console.operator.Parameters;
import dev.twinbox.inbox.jdbc.PausedTable;
import dev.twinbox.inbox.jdbc.PausedTable.Kind;
import jakarta.json.JsonObject;
import jakarta.json.JsonString;
import jakarta.json.JsonValue;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What is paused and resumed, in calls and answers. */
public final class PauseJson {
    private static final String TOPICS = "topics";
    private static final String HANDLERS = "handlers";
    private static final String GROUP = "group";
    private static final int MOST = 100;

    private PauseJson() {}

    /** From the body. */
    static PauseSelection of(Api.Call call) {
        JsonObject body = call.body();
        Parameters.refuseUnknown(body.keySet(), Set.of(TOPICS, HANDLERS, GROUP));
        JsonValue group = body.get(GROUP);
        if (group != null && !(group instanceof JsonString)) {
            throw new ProblemException(400, "\"" + GROUP + "\" must be the name of a group");
        }
        try {
            return PauseSelection.of(
                    names(body, TOPICS),
                    names(body, HANDLERS),
                    group instanceof JsonString text ? text.getString() : null);
        } catch (IllegalArgumentException e) {
            throw new ProblemException(400, String.valueOf(e.getMessage()));
        }
    }

    private static List<String> names(JsonObject body, String key) {
        JsonValue value = body.get(key);
        if (value == null) {
            return List.of();
        }
        List<JsonValue> all = value.getValueType() == JsonValue.ValueType.ARRAY ? value.asJsonArray() : List.of();
        if (all.isEmpty() || all.size() > MOST || !all.stream().allMatch(JsonString.class::isInstance)) {
            throw new ProblemException(400, "\"" + key + "\" must be a list of 1 to " + MOST + " names");
        }
        return all.stream().map(each -> ((JsonString) each).getString()).toList();
    }

    /** The paused topics or handlers of these rows. */
    static List<JsonText> paused(List<PausedTable.Row> rows, Kind kind) {
        return rows.stream()
                .filter(row -> row.kind() == kind)
                .map(row -> new JsonText()
                        .with(GROUP, row.group())
                        .with(kind.text(), row.name())
                        .with("pausedSince", row.since()))
                .toList();
    }

    /** The answer to a pause. */
    public static JsonObject paused(List<PausedTable.Row> rows, List<String> warnings) {
        return new JsonText()
                .with(TOPICS, paused(rows, Kind.TOPIC))
                .with(HANDLERS, paused(rows, Kind.HANDLER))
                .with("warnings", nullIfNone(warnings))
                .build();
    }

    /** The answer to a resume. */
    public static JsonObject resumed(
            PauseSelection which, Set<String> topics, Set<String> handlers, List<String> warnings) {
        return new JsonText()
                .with(TOPICS, resumed(Kind.TOPIC, which.topics(), topics))
                .with(HANDLERS, resumed(Kind.HANDLER, which.handlers(), handlers))
                .with("warnings", nullIfNone(warnings))
                .build();
    }

    private static List<JsonText> resumed(Kind kind, List<String> names, Set<String> resumed) {
        return names.stream()
                .map(name -> new JsonText().with(kind.text(), name).with("wasPaused", resumed.contains(name)))
                .toList();
    }

    private static @Nullable List<String> nullIfNone(List<String> warnings) {
        return warnings.isEmpty() ? null : warnings;
    }
}
