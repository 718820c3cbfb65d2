package dev.twinbox.relay.operator;

import dev.twinbox.console.search.SearchedPlace;
import java.util.List;

/**
 * Where the events of a query are.
 *
 * @param events newest first; one if the query named it, also if it is not here
 * @param searched where they were looked for, and how far
 */
public record EventAnswer(List<Whereabouts> events, List<SearchedPlace> searched) {

    /** Whether a limit ended the search before all was looked at. */
    public boolean isCut() {
        return searched.stream().anyMatch(SearchedPlace::isCut);
    }
}
