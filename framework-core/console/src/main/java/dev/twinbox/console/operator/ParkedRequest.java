package dev.twinbox.console.operator;

import dev.twinbox.console.Api;
import dev.twinbox.console.ProblemException;
import jakarta.json.JsonNumber;
import jakarta.json.JsonObject;
import jakarta.json.JsonString;
import jakarta.json.JsonValue;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads which parked events a call means. All that is given has to hold. */
public final class ParkedRequest {
    private static final int MOST_NUMBERS = 1_000;
    private static final String SINCE = "since";
    private static final String STATE = "state";
    private static final Set<String> PAGING = Set.of(STATE, "after", "limit");
    private static final Set<String> CHOOSING = Set.of("all", "numbers");
    private static final String DRY_RUN = "dryRun";

    /**
     * What chooses parked events.
     *
     * @param numbers null: it is not by number
     */
    public record Filter(@Nullable List<Long> numbers, Map<String, String> texts, Since since) {

        /** The value of a filter. Null: it is not given. */
        public @Nullable String text(String name) {
            return texts.get(name);
        }
    }

    /**
     * A page of a list.
     *
     * @param state null: all
     * @param after number of the last event of the page before; 0: this is the first page
     * @param limit most events of the page
     */
    public record Page(Filter filter, @Nullable String state, long after, int limit) {}

    /**
     * What a change is about.
     *
     * @param isDryRun whether they are only counted
     */
    public record Change(Filter filter, boolean isDryRun) {}

    private final Set<String> filters;
    private final List<String> states;

    /**
     * For one side.
     *
     * @param filters names of its filters beside {@code since}
     * @param states of parked events
     */
    public ParkedRequest(Set<String> filters, List<String> states) {
        Set<String> all = new TreeSet<>(filters);
        all.add(SINCE);
        this.filters = Set.copyOf(all);
        this.states = List.copyOf(states);
    }

    /**
     * From the parameters of the address.
     *
     * @throws ProblemException if one is wrong
     */
    public Page page(Api.Call call) {
        Map<String, String> query = call.query();
        refuseUnknown(query.keySet(), List.of(filters, PAGING));
        String state = query.get(STATE);
        if (state != null && !states.contains(state)) {
            throw new ProblemException(400, "\"state\" must be one of " + String.join(", ", states));
        }
        return new Page(
                filter(null, query),
                state,
                Parameters.number("after", query.getOrDefault("after", "0"), Long.MAX_VALUE),
                Parameters.limit(query));
    }

    /**
     * From the body: numbers, filters, or all.
     *
     * @throws ProblemException if it is wrong
     */
    public Change selection(Api.Call call) {
        JsonObject body = call.body();
        refuseUnknown(body.keySet(), List.of(filters, CHOOSING, Set.of(DRY_RUN)));
        List<Long> numbers = numbers(body.get("numbers"));
        Map<String, String> texts = new TreeMap<>();
        filters.stream().filter(body::containsKey).forEach(name -> texts.put(name, text(name, body.get(name))));
        boolean isFiltered = !texts.isEmpty() || flag(body, "all");
        if ((numbers != null) == isFiltered) {
            throw new ProblemException(
                    400,
                    numbers == null
                            ? "No events are selected: send \"numbers\", a filter such as \"topic\", or \"all\": true"
                            : "Send either \"numbers\" or what selects events, not both");
        }
        return new Change(filter(numbers, texts), flag(body, DRY_RUN));
    }

    /**
     * The event that the path names as {@code number}.
     *
     * @throws ProblemException if it is none
     */
    public Change one(Api.Call call) {
        refuseUnknown(call.body().keySet(), List.of(Set.of(DRY_RUN)));
        return new Change(filter(List.of(call.number("number")), Map.of()), flag(call.body(), DRY_RUN));
    }

    private Filter filter(@Nullable List<Long> numbers, Map<String, String> texts) {
        texts.forEach((name, text) -> {
            if (text.indexOf('\0') >= 0) {
                throw new ProblemException(400, "\"" + name + "\" must not contain the character NUL");
            }
        });
        try {
            return new Filter(numbers, texts, Since.parse(SINCE, texts.get(SINCE)));
        } catch (IllegalArgumentException e) {
            throw new ProblemException(400, String.valueOf(e.getMessage()));
        }
    }

    private static void refuseUnknown(Set<String> given, List<Set<String>> known) {
        Parameters.refuseUnknown(given, known.stream().flatMap(Set::stream).collect(Collectors.toSet()));
    }

    private static @Nullable List<Long> numbers(@Nullable JsonValue value) {
        if (value == null) {
            return null;
        }
        boolean isList = value.getValueType() == JsonValue.ValueType.ARRAY;
        List<JsonValue> all = isList ? value.asJsonArray() : List.of();
        boolean isLegal = all.stream().allMatch(ParkedRequest::isLong);
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
