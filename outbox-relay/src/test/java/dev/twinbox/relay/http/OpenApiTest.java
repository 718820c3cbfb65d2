package dev.twinbox.relay.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.console.Api;
import dev.twinbox.relay.config.ConfigurationReader;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.engine.Progress;
import dev.twinbox.relay.jdbc.ActionTable;
import dev.twinbox.relay.jdbc.FoundEvent;
import dev.twinbox.relay.jdbc.ParkedCauses;
import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.jdbc.SearchedPlace;
import dev.twinbox.relay.kafka.TopicRecord;
import dev.twinbox.relay.kafka.TopicState;
import dev.twinbox.relay.operator.ActionJson;
import dev.twinbox.relay.operator.CausesJson;
import dev.twinbox.relay.operator.EventAnswer;
import dev.twinbox.relay.operator.EventJson;
import dev.twinbox.relay.operator.ParkedChange;
import dev.twinbox.relay.operator.ParkedJson;
import dev.twinbox.relay.operator.TopicsReport;
import dev.twinbox.relay.operator.Whereabouts;
import jakarta.json.JsonArray;
import jakarta.json.JsonObject;
import jakarta.json.JsonString;
import jakarta.json.JsonValue;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The document says what the API does, and is whole. */
class OpenApiTest {
    private static final Pattern PLACEHOLDER = Pattern.compile("\\{(\\w+)}");

    private final JsonObject document = OperatorApi.document();
    private final Api api = api(
            ConfigurationReader.read(
                    null,
                    Map.of(),
                    Map.of(
                            "twinbox.relay.database.url", "jdbc:postgresql://localhost/none",
                            "twinbox.relay.kafka.bootstrap.servers", "localhost:1")));

    static Api api(RelayConfig config) {
        Health health = new Health(new Progress(System::nanoTime), Duration.ofSeconds(10));
        return OperatorApi.of(config, OperatorApi.access(config, true), health);
    }

    @Test
    void itHasEachOperationAndNoOthers() {
        Set<String> described = new TreeSet<>();
        document.getJsonObject("paths")
                .forEach((path, methods) -> methods.asJsonObject()
                        .keySet()
                        .forEach(method -> described.add(method.toUpperCase(Locale.ROOT) + " /api/v1" + path)));

        assertThat(described).isEqualTo(api.routes()).hasSizeGreaterThan(10);
    }

    @Test
    void eachOperationIsWhole() {
        Set<String> ids = new HashSet<>();
        document.getJsonObject("paths")
                .forEach((path, methods) -> methods.asJsonObject().forEach((method, operation) -> {
                    JsonObject described = operation.asJsonObject();
                    assertThat(ids.add(described.getString("operationId"))).isTrue();
                    assertThat(described.getString("summary")).isNotBlank();
                    assertThat(described.getJsonObject("responses").keySet()).contains("200", "default");
                    assertThat(described.containsKey("requestBody")).isEqualTo(method.equals("post"));
                    assertThat(described.getJsonArray("security").contains(JsonValue.EMPTY_JSON_OBJECT))
                            .as("%s %s without a token", method, path)
                            .isEqualTo(path.equals("/login")
                                    || path.equals("/logout")
                                    || (method.equals("get") && !path.endsWith("/payload")));
                    assertThat(parameters(described, "path"))
                            .isEqualTo(PLACEHOLDER
                                    .matcher(path)
                                    .results()
                                    .map(found -> found.group(1))
                                    .collect(Collectors.toSet()));
                }));
    }

    @Test
    void eachReferenceLeadsSomewhere() {
        List<MatchResult> references = Pattern.compile("\"\\$ref\":\"#/components/(\\w+)/(\\w+)\"")
                .matcher(document.toString())
                .results()
                .toList();

        assertThat(references)
                .hasSizeGreaterThan(10)
                .allSatisfy(
                        found -> assertThat(document.getJsonObject("components").getJsonObject(found.group(1)))
                                .containsKey(found.group(2)));
    }

    @Test
    void aParkedEventHasTheDescribedFields() {
        ParkedRows.Line line =
                new ParkedRows.Line(1, ParkedState.WAITING, "topic", 0, "key", "id", "type", 1, Instant.EPOCH, "error");
        ParkedRows.Details details = new ParkedRows.Details(
                line, 1, "source", "subject", "2026", "text/plain", List.of(new ParkedRows.Header("a", "b")), 3, 0);

        assertThat(ParkedJson.line(line).build().keySet()).isEqualTo(properties("ParkedLine"));
        assertThat(ParkedJson.details(details).build().keySet()).isEqualTo(properties("ParkedEvent"));
        assertThat(values("ParkedLine", "state"))
                .containsExactlyElementsOf(Arrays.stream(ParkedState.values())
                        .map(ParkedState::sql)
                        .toList());
    }

    @Test
    void anEventHasTheDescribedFieldsAndStates() {
        UUID id = UUID.randomUUID();
        FoundEvent row = new FoundEvent(
                FoundEvent.Place.PARKED,
                1,
                id,
                "topic",
                "key",
                "type",
                Instant.EPOCH,
                false,
                Instant.EPOCH,
                ParkedState.WAITING,
                "error");
        TopicRecord record = new TopicRecord("topic", 0, 1, Instant.EPOCH, id.toString(), "type");
        EventAnswer answer = new EventAnswer(
                List.of(new Whereabouts(id.toString(), row, row, List.of(record))),
                List.of(new SearchedPlace("topic", 1, true, Instant.EPOCH, Instant.EPOCH, "problem")));
        JsonObject event = EventJson.all(answer).build().getJsonArray("events").getJsonObject(0);

        assertThat(event.keySet()).isEqualTo(properties("EventState"));
        assertThat(event.getJsonArray("records").getJsonObject(0).keySet()).isEqualTo(properties("Record"));
        JsonObject one = EventJson.one(answer).build();
        assertThat(one.getJsonArray("searched").getJsonObject(0).keySet()).isEqualTo(properties("SearchedPlace"));
        assertThat(one.keySet()).containsAll(event.keySet()).contains("searched", "isCut");
        assertThat(values("EventState", "state"))
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(Whereabouts.State.values())
                        .map(Whereabouts.State::text)
                        .toList());
    }

    @Test
    void aTopicHasTheDescribedFields() {
        SortedMap<String, TopicsReport.Line> lines = new TreeMap<>();
        lines.put("a", new TopicsReport.Line(true, Map.of(), new TopicState(1, List.of(), null)));
        lines.put("b", new TopicsReport.Line(true, Map.of(), new TopicState(0, List.of(), "problem")));
        JsonObject report = new TopicsReport(lines, Instant.EPOCH, true, "problem").json();
        Set<String> fields = new TreeSet<>();
        report.getJsonArray("topics").getValuesAs(JsonObject.class).forEach(each -> fields.addAll(each.keySet()));

        assertThat(report.keySet()).isEqualTo(properties("Topics"));
        assertThat(fields).isEqualTo(properties("Topic"));
    }

    @Test
    void aCauseHasTheDescribedFieldsAndEachHasARemedy() {
        List<ParkedCauses.Group> groups = Arrays.stream(ParkedCauses.Cause.values())
                .map(cause -> new ParkedCauses.Group(cause, "topic", 1, 2, 1, Instant.EPOCH, 7, "error"))
                .toList();
        JsonObject causes = CausesJson.of(new ParkedCauses(groups, 0, false));

        assertThat(causes.keySet()).isEqualTo(properties("Causes"));
        assertThat(causes.getJsonArray("causes").getValuesAs(JsonObject.class))
                .allSatisfy(each -> assertThat(each.keySet()).isEqualTo(properties("Cause")))
                .extracting(each -> each.getString("cause"))
                .containsExactlyElementsOf(values("Cause", "cause"))
                .containsExactlyElementsOf(values("Selection", "cause"));
        assertThat(causes.getJsonArray("causes").getValuesAs(JsonObject.class))
                .extracting(each -> each.getString("title"))
                .doesNotHaveDuplicates();
    }

    @Test
    void aProcessHasTheDescribedFields() {
        Progress progress = new Progress(System::nanoTime);
        progress.recordLeaseElsewhere("another");

        assertThat(new Health(progress, Duration.ofSeconds(10)).process().keySet())
                .isEqualTo(properties("Process"));
    }

    @Test
    void theDocumentIsReadOnce() {
        assertThat(OperatorApi.document()).isSameAs(document);
    }

    @Test
    void anActionHasTheDescribedFields() {
        ActionTable.Line line =
                new ActionTable.Line(1, Instant.EPOCH, new ActionTable.Action("operator", "http", "retry", "all", 1L));

        assertThat(ActionJson.of(line).build().keySet()).isEqualTo(properties("Action"));
        assertThat(values("Action", "action"))
                .containsExactlyInAnyOrder(
                        ParkedChange.RETRY.action(), ParkedChange.DISCARD.action(), "pause", "resume");
    }

    private List<String> values(String schema, String property) {
        return document.getJsonObject("components")
                .getJsonObject("schemas")
                .getJsonObject(schema)
                .getJsonObject("properties")
                .getJsonObject(property)
                .getJsonArray("enum")
                .getValuesAs(JsonString::getString);
    }

    private Set<String> properties(String schema) {
        return document.getJsonObject("components")
                .getJsonObject("schemas")
                .getJsonObject(schema)
                .getJsonObject("properties")
                .keySet();
    }

    private static Set<String> parameters(JsonObject operation, String in) {
        JsonArray all =
                operation.containsKey("parameters") ? operation.getJsonArray("parameters") : JsonValue.EMPTY_JSON_ARRAY;
        return Stream.of(all)
                .flatMap(list -> list.getValuesAs(JsonObject.class).stream())
                .filter(each -> each.getString("in").equals(in))
                .map(each -> each.getString("name"))
                .collect(Collectors.toSet());
    }
}
