package dev.twinbox.relay.http;

import dev.twinbox.console.Api;
import dev.twinbox.console.ProblemException;
import dev.twinbox.relay.jdbc.ParkedCauses;
import dev.twinbox.relay.jdbc.ParkedSelection;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.operator.ParkedFilter;
import jakarta.json.JsonNumber;
import jakarta.json.JsonObject;
import jakarta.json.JsonString;
import jakarta.json.JsonValue;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which parked events a call means. All that is given has to hold.
 *
 * @param state null: all
 * @param after number of the last event of the page before; 0: this is the first page
 * @param limit most events of the page
 */
record ParkedQuery(ParkedSelection selection, @Nullable ParkedState state, long after, int limit) {
    private static final int MOST_NUMBERS = 1_000;
    private static final Set<String> FILTERS = Set.of("topic", "key", "type", "error", "since", "cause");
    private static final Set<String> PAGING = Set.of("state", "after", "limit");
    private static final Set<String> CHOOSING = Set.of("all", "numbers");
    private static final String DRY_RUN = "dryRun";

    /**
     * What a change is about.
     *
     * @param isDryRun whether they are only counted
     */
    record Change(ParkedSelection selection, boolean isDryRun) {}

    /** From the parameters of the address. */
    static ParkedQuery of(Api.Call call) {
        Map<String, String> query = call.query();
        refuseUnknown(query.keySet(), List.of(FILTERS, PAGING));
        return new ParkedQuery(
                filter(null, query),
                state(query.get("state")),
                Parameters.number("after", query.getOrDefault("after", "0"), Long.MAX_VALUE),
                Parameters.limit(query));
    }

    /** From the body: numbers, filters, or all. */
    static Change selection(Api.Call call) {
        JsonObject body = call.body();
        refuseUnknown(body.keySet(), List.of(FILTERS, CHOOSING, Set.of(DRY_RUN)));
        List<Long> numbers = numbers(body.get("numbers"));
        Map<String, String> filters = new TreeMap<>();
        FILTERS.stream().filter(body::containsKey).forEach(name -> filters.put(name, text(name, body.get(name))));
        boolean isFiltered = !filters.isEmpty() || flag(body, "all");
        if ((numbers != null) == isFiltered) {
            throw new ProblemException(
                    400,
                    numbers == null
                            ? "No events are selected: send \"numbers\", a filter such as \"topic\", or \"all\": true"
                            : "Send either \"numbers\" or what selects events, not both");
        }
        return new Change(filter(numbers, filters), flag(body, DRY_RUN));
    }

    /** The event that the path names. */
    static Change one(Api.Call call) {
        refuseUnknown(call.body().keySet(), List.of(Set.of(DRY_RUN)));
        return new Change(filter(List.of(call.number("number")), Map.of()), flag(call.body(), DRY_RUN));
    }

    private static ParkedSelection filter(@Nullable List<Long> numbers, Map<String, String> filters) {
        try {
            return ParkedFilter.of(
                    numbers,
                    filters.get("topic"),
                    filters.get("key"),
                    filters.get("type"),
                    filters.get("error"),
                            ParkedFilter.Since.parse("since", filters.get("since")))
                    .withCause(cause(filters.get("cause")));
        } catch (IllegalArgumentException e) {
            throw new ProblemException(400, String.valueOf(e.getMessage()));
        }
    }

    private static ParkedCauses.@Nullable Cause cause(@Nullable String text) {
        return text == null
                ? null
                : ParkedCauses.Cause.of(text)
                        .orElseThrow(() -> new ProblemException(
                                400,
                                "\"cause\" must be one of "
                                        + Arrays.stream(ParkedCauses.Cause.values())
                                                .map(ParkedCauses.Cause::text)
                                                .collect(Collectors.joining(", "))));
    }

    private static void refuseUnknown(Set<String> given, List<Set<String>> known) {
        Parameters.refuseUnknown(given, known.stream().flatMap(Set::stream).collect(Collectors.toSet()));
    }

    private static @Nullable ParkedState state(@Nullable String text) {
        if (text == null) {
            return null;
        }
        return Arrays.stream(ParkedState.values())
                .filter(state -> state.sql().equals(text))
                .findFirst()
                .orElseThrow(() -> new ProblemException(
                        400,
                        "\"state\" must be one of "
                                + Arrays.stream(ParkedState.values())
                                        .map(ParkedState::sql)
                                        .collect(Collectors.joining(", "))));
    }

    private static @Nullable List<Long> numbers(@Nullable JsonValue value) {
        if (value == null) {
            return null;
        }
        boolean isList = value.getValueType() == JsonValue.ValueType.ARRAY;
        List<JsonValue> all = isList ? value.asJsonArray() : List.of();
        boolean isLegal = all.stream().allMatch(ParkedQuery::isLong);
        if (all.isEmpty() || all.size() > MOST_NUMBERS || !isLegal) {
            throw new ProblemException(400, "\"numbers\" must be a list of 1 to " + MOST_NUMBERS + " whole numbers");
        }
        return all.stream().map(each -> ((JsonNumber) each).longValue()).toList();
    }

    /** JSON numbers have no bounds. The last 64 bits of a larger one would be the number of another event. */
    private static boolean isLong(JsonValue value) {
        return value instanceof JsonNumber number
                && number.isIntegral()
                && number.bigIntegerValue().bitLength() < Long.SIZE;
    }

    private static String text(String name, @Nullable JsonValue value) {
        if (value instanceof JsonString text) {
            return text.getString();
        }
        throw new ProblemException(400, "\"" + name + "\" must be a text");
    }

    private static boolean flag(JsonObject body, String name) {
        JsonValue value = body.getOrDefault(name, JsonValue.FALSE);
        if (value != JsonValue.TRUE && value != JsonValue.FALSE) {
            throw new ProblemException(400, "\"" + name + "\" must be true or false");
        }
        return value == JsonValue.TRUE;
    }
}
