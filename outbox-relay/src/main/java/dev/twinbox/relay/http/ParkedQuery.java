package dev.twinbox.relay.http;

import dev.twinbox.console.Api;
import dev.twinbox.console.ProblemException;
import dev.twinbox.console.operator.ParkedRequest;
import dev.twinbox.relay.jdbc.ParkedCauses;
import dev.twinbox.relay.jdbc.ParkedSelection;
import dev.twinbox.relay.jdbc.ParkedState;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which parked events a call means. All that is given has to hold.
 *
 * @param state null: all
 * @param after number of the last event of the page before; 0: this is the first page
 * @param limit most events of the page
 */
record ParkedQuery(ParkedSelection selection, @Nullable ParkedState state, long after, int limit) {
    private static final String CAUSE = "cause";
    private static final ParkedRequest REQUEST =
            new ParkedRequest(Set.of("topic", "key", "type", "error", CAUSE), states());

    /**
     * What a change is about.
     *
     * @param isDryRun whether they are only counted
     */
    record Change(ParkedSelection selection, boolean isDryRun) {
        private static Change of(ParkedRequest.Change change) {
            return new Change(ParkedQuery.selection(change.filter()), change.isDryRun());
        }
    }

    private static List<String> states() {
        return Stream.of(ParkedState.values()).map(ParkedState::sql).toList();
    }

    /** From the parameters of the address. */
    static ParkedQuery of(Api.Call call) {
        ParkedRequest.Page page = REQUEST.page(call);
        String state = page.state();
        return new ParkedQuery(
                selection(page.filter()), state == null ? null : ParkedState.of(state), page.after(), page.limit());
    }

    /** From the body: numbers, filters, or all. */
    static Change selection(Api.Call call) {
        return Change.of(REQUEST.selection(call));
    }

    /** The event that the path names. */
    static Change one(Api.Call call) {
        return Change.of(REQUEST.one(call));
    }

    private static ParkedSelection selection(ParkedRequest.Filter filter) {
        return new ParkedSelection(
                filter.numbers(),
                filter.text("topic"),
                filter.text("key"),
                filter.text("type"),
                filter.text("error"),
                filter.since().time(),
                filter.since().age(),
                cause(filter.text(CAUSE)));
    }

    private static ParkedCauses.@Nullable Cause cause(@Nullable String text) {
        return text == null
                ? null
                : ParkedCauses.Cause.of(text)
                        .orElseThrow(() -> new ProblemException(
                                400,
                                "\"" + CAUSE + "\" must be one of " + String.join(", ", ParkedCauses.Cause.texts())));
    }
}
