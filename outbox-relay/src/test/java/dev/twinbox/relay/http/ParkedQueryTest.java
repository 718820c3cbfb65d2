package dev.twinbox.relay.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.console.Api;
import dev.twinbox.console.ProblemException;
import dev.twinbox.relay.jdbc.ParkedSelection;
import dev.twinbox.relay.jdbc.ParkedState;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.StringReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ParkedQueryTest {

    @Test
    void parametersBecomeASelection() {
        assertThat(ParkedQuery.of(query(Map.of()))).isEqualTo(new ParkedQuery(ParkedSelection.ALL, null, 0, 100));
        assertThat(ParkedQuery.of(query(Map.of(
                        "topic", "t", "key", "", "type", "y", "error", "e", "since", "PT1H", "state", "refused",
                        "after", "7", "limit", "3"))))
                .isEqualTo(new ParkedQuery(
                        new ParkedSelection(null, "t", "", "y", "e", null, Duration.ofHours(1)),
                        ParkedState.REFUSED,
                        7,
                        3));
    }

    @ParameterizedTest
    @CsvSource({
        "limit, 0",
        "limit, 1001",
        "limit, -1",
        "limit, x",
        "after, -1",
        "after, 99999999999999999999",
        "state, lost",
        "since, yesterday",
        "Topic, t"
    })
    void wrongParametersAreRefused(String name, String value) {
        assertThatThrownBy(() -> ParkedQuery.of(query(Map.of(name, value))))
                .isInstanceOfSatisfying(
                        ProblemException.class, e -> assertThat(e.status()).isEqualTo(400));
    }

    @Test
    void aBodyBecomesAChange() {
        assertThat(ParkedQuery.selection(body("{\"numbers\":[3,4]}")))
                .isEqualTo(new ParkedQuery.Change(
                        new ParkedSelection(List.of(3L, 4L), null, null, null, null, null, null), false));
        assertThat(ParkedQuery.selection(body("{\"all\":true,\"dryRun\":true}")))
                .isEqualTo(new ParkedQuery.Change(ParkedSelection.ALL, true));
        assertThat(ParkedQuery.selection(body("{\"topic\":\"t\",\"all\":false}")))
                .isEqualTo(new ParkedQuery.Change(new ParkedSelection(null, "t", null, null, null, null, null), false));
    }

    /** What selects nothing must not select all. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "{\"all\":false}",
                "{\"dryRun\":true}",
                "{\"numbers\":[]}",
                "{\"numbers\":[1],\"all\":true}",
                "{\"numbers\":[1],\"topic\":\"t\"}",
                "{\"numbers\":[1.5]}",
                "{\"numbers\":[\"1\"]}",
                "{\"numbers\":[18446744073709551617]}", // its last 64 bits are 1
                "{\"numbers\":[1e30]}",
                "{\"numbers\":1}",
                "{\"numbers\":null}",
                "{\"all\":\"true\"}",
                "{\"all\":1}",
                "{\"topic\":null}",
                "{\"topic\":[\"t\"]}",
                "{\"topics\":\"t\"}",
                "{\"all\":true,\"dryrun\":true}",
                "{\"all\":true,\"dryRun\":\"yes\"}",
                "{\"since\":\"now\"}"
            })
    void wrongBodiesAreRefused(String body) {
        assertThatThrownBy(() -> ParkedQuery.selection(body(body)))
                .isInstanceOfSatisfying(
                        ProblemException.class, e -> assertThat(e.status()).isEqualTo(400));
    }

    private static Api.Call query(Map<String, String> query) {
        return new Api.Call(Map.of(), query, JsonObject.EMPTY_JSON_OBJECT);
    }

    private static Api.Call body(String json) {
        try (JsonReader reader = Json.createReader(new StringReader(json))) {
            return new Api.Call(Map.of(), Map.of(), reader.readObject());
        }
    }
}
