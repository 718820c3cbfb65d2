package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** What was sent, by key in order. Checks that the effects are exactly that. */
final class Sent {
    private static int runs;

    private final String handler;
    private final String run = "run" + runs++ + "-";
    final Map<String, List<String>> ids = new LinkedHashMap<>();

    Sent(String handler) {
        this.handler = handler;
    }

    String next(String key) {
        List<String> ofKey = ids.computeIfAbsent(key, k -> new ArrayList<>());
        ofKey.add(run + key + "-" + ofKey.size());
        return ofKey.get(ofKey.size() - 1);
    }

    void assertExact() {
        Map<String, List<String>> effects = ParallelApp.database().effects(handler).stream()
                .filter(id -> id.startsWith(run))
                .collect(Collectors.groupingBy(
                        id -> id.substring(run.length(), id.lastIndexOf('-')),
                        LinkedHashMap::new,
                        Collectors.toList()));
        assertThat(effects.keySet()).containsExactlyInAnyOrderElementsOf(ids.keySet());
        ids.forEach((key, expected) -> assertThat(effects.get(key)).as(key).isEqualTo(expected));
    }
}
