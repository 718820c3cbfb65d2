package dev.twinbox.console.actions;

import dev.twinbox.console.Api;
import dev.twinbox.console.operator.Parameters;
import java.util.Map;
import java.util.Set;

/**
 * Which page of the action log a call means.
 *
 * @param before number of the last change of the page before
 * @param limit most changes of the page
 */
public record ActionsQuery(long before, int limit) {

    /** From the parameters of the address. */
    public static ActionsQuery of(Api.Call call) {
        Map<String, String> query = call.query();
        Parameters.refuseUnknown(query.keySet(), Set.of("before", "limit"));
        String last = query.get("before");
        return new ActionsQuery(
                last == null ? Long.MAX_VALUE : Parameters.number("before", last, Long.MAX_VALUE),
                Parameters.limit(query));
    }
}
