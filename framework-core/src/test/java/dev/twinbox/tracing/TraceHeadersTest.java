package dev.twinbox.tracing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceHeadersTest {

    private final Map<String, String> headers = new HashMap<>();

    @ParameterizedTest
    @ValueSource(strings = {"00-1", " ", "~", "a=b,c=d e"})
    void whatCanBeStoredIsPut(String value) {
        TraceHeaders.put(headers, "tracestate", value);

        assertThat(headers).containsOnly(Map.entry("tracestate", value));
    }

    @Test
    void whatCannotBeStoredIsLeftOutWithoutAnError() {
        for (String value : new String[] {"", "a\0", "a\nb", "\u001f", "\u007f", "é", "\ud83d"}) {
            TraceHeaders.put(headers, "tracestate", value);
        }

        assertThat(headers).isEmpty();
    }

    @Test
    void aValueIsBounded() {
        TraceHeaders.put(headers, "longest", "x".repeat(8192));
        TraceHeaders.put(headers, "longer", "x".repeat(8193));

        assertThat(headers).containsOnlyKeys("longest");
    }

    @Test
    void whatTheApplicationHasSetStays() {
        headers.put("traceparent", "its own");
        TraceHeaders.put(headers, "traceparent", "another");

        assertThat(headers).containsEntry("traceparent", "its own");
    }

    @Test
    void aReservedNameIsNotPut() {
        TraceHeaders.put(headers, "ce_id", "x");
        TraceHeaders.put(headers, "content-type", "x");

        assertThat(headers).isEmpty();
        assertThatCode(() -> TraceHeaders.put(null, "traceparent", "x")).doesNotThrowAnyException();
    }

    @Test
    void parentAndStateAreReadTogetherFromOneOfTheTwoPlaces() {
        headers.putAll(Map.of("ce_traceparent", "p", "ce_tracestate", "s", "ce_baggage", "b", "baggage", "mine"));
        assertThat(TraceHeaders.GETTER.get(headers, "traceparent")).isEqualTo("p");
        assertThat(TraceHeaders.GETTER.get(headers, "tracestate")).isEqualTo("s");
        assertThat(TraceHeaders.GETTER.get(headers, "baggage")).isEqualTo("mine");

        headers.put("traceparent", "plain");
        assertThat(TraceHeaders.GETTER.get(headers, "traceparent")).isEqualTo("plain");
        assertThat(TraceHeaders.GETTER.get(headers, "tracestate")).isNull();
        assertThat(TraceHeaders.GETTER.get(null, "traceparent")).isNull();
        assertThat(TraceHeaders.GETTER.keys(headers)).containsExactlyInAnyOrderElementsOf(headers.keySet());
    }
}
