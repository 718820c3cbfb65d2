package dev.twinbox.relay.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.console.Api;
import dev.twinbox.console.actions.ActionJson;
import dev.twinbox.console.actions.ActionLog;
import dev.twinbox.console.config.HttpAddress;
import dev.twinbox.console.search.SearchedPlace;
import dev.twinbox.console.search.TopicRecord;
import dev.twinbox.fixtures.OpenApiRules;
import dev.twinbox.relay.config.ConfigurationReader;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelaySettings;
import dev.twinbox.relay.engine.Progress;
import dev.twinbox.relay.jdbc.FoundEvent;
import dev.twinbox.relay.jdbc.ParkedCauses;
import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.jdbc.SentEvents;
import dev.twinbox.relay.kafka.TopicState;
import dev.twinbox.relay.operator.CausesJson;
import dev.twinbox.relay.operator.EventAnswer;
import dev.twinbox.relay.operator.EventJson;
import dev.twinbox.relay.operator.ParkedChange;
import dev.twinbox.relay.operator.ParkedJson;
import dev.twinbox.relay.operator.TopicsReport;
import dev.twinbox.relay.operator.Whereabouts;
import dev.twinbox.relay.resend.ResendJob;
import dev.twinbox.relay.resend.ResendJson;
import dev.twinbox.relay.resend.ResendPreview;
import jakarta.json.JsonObject;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The document says what the API does, and is whole. */
class OpenApiTest {
    private final JsonObject document = OperatorApi.document();
    private final OpenApiRules rules = new OpenApiRules(document);
    private final RelayConfig config = ConfigurationReader.read(
            null,
            Map.of(),
            Map.of(
                    "twinbox.relay.database.url", "jdbc:postgresql://localhost/none",
                    "twinbox.relay.kafka.bootstrap.servers", "localhost:1"));
    private final Api api = api(config);

    static Api api(RelayConfig config) {
        Health health = new Health(new Progress(System::nanoTime), Duration.ofSeconds(10));
        return OperatorApi.of(config, new HttpAddress(config.http(), RelaySettings.HTTP).access(), health);
    }

    @Test
    void itHasEachOperationAndNoOthers() {
        assertThat(rules.routes()).isEqualTo(api.routes()).hasSizeGreaterThan(10);
    }

    @Test
    void eachOperationIsWhole() {
        assertThat(rules.problems()).isEmpty();
        assertThat(rules.brokenReferences()).isEmpty();
    }

    @Test
    void aParkedEventHasTheDescribedFields() {
        ParkedRows.Line line =
                new ParkedRows.Line(1, ParkedState.WAITING, "topic", 0, "key", "id", "type", 1, Instant.EPOCH, "error");
        ParkedRows.Details details = new ParkedRows.Details(
                line, 1, "source", "subject", "2026", "text/plain", List.of(new ParkedRows.Header("a", "b")), 3, 0);

        assertThat(ParkedJson.line(line).build().keySet()).isEqualTo(rules.properties("ParkedLine"));
        assertThat(ParkedJson.details(details).build().keySet()).isEqualTo(rules.properties("ParkedEvent"));
        assertThat(rules.values("ParkedLine", "state"))
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

        assertThat(event.keySet()).isEqualTo(rules.properties("EventState"));
        assertThat(event.getJsonArray("records").getJsonObject(0).keySet()).isEqualTo(rules.properties("Record"));
        JsonObject one = EventJson.one(answer).build();
        assertThat(one.getJsonArray("searched").getJsonObject(0).keySet()).isEqualTo(rules.properties("SearchedPlace"));
        assertThat(one.keySet()).containsAll(event.keySet()).contains("searched", "isCut");
        assertThat(rules.values("EventState", "state"))
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(Whereabouts.State.values())
                        .map(Whereabouts.State::text)
                        .toList());
    }

    @Test
    void aTopicHasTheDescribedFields() {
        SortedMap<String, TopicsReport.Line> lines = new TreeMap<>();
        lines.put("a", new TopicsReport.Line(true, Map.of(), Instant.EPOCH, new TopicState(1, List.of(), null)));
        lines.put("b", new TopicsReport.Line(true, Map.of(), null, new TopicState(0, List.of(), "problem")));
        JsonObject report = new TopicsReport(lines, Instant.EPOCH, true, "problem").json();
        Set<String> fields = new TreeSet<>();
        report.getJsonArray("topics").getValuesAs(JsonObject.class).forEach(each -> fields.addAll(each.keySet()));

        assertThat(report.keySet()).isEqualTo(rules.properties("Topics"));
        assertThat(fields).isEqualTo(rules.properties("Topic"));
    }

    @Test
    void aCauseHasTheDescribedFieldsAndEachHasARemedy() {
        List<ParkedCauses.Group> groups = Arrays.stream(ParkedCauses.Cause.values())
                .map(cause -> new ParkedCauses.Group(cause, "topic", 1, 2, 1, Instant.EPOCH, 7, "error"))
                .toList();
        JsonObject causes = CausesJson.of(new ParkedCauses(groups, 0, false));

        assertThat(causes.keySet()).isEqualTo(rules.properties("Causes"));
        assertThat(causes.getJsonArray("causes").getValuesAs(JsonObject.class))
                .allSatisfy(each -> assertThat(each.keySet()).isEqualTo(rules.properties("Cause")))
                .extracting(each -> each.getString("cause"))
                .containsExactlyElementsOf(rules.values("Cause", "cause"))
                .containsExactlyElementsOf(rules.values("Selection", "cause"));
        assertThat(causes.getJsonArray("causes").getValuesAs(JsonObject.class))
                .extracting(each -> each.getString("title"))
                .doesNotHaveDuplicates();
    }

    @Test
    void aJobAndItsPreviewHaveTheDescribedFields() {
        SentEvents.Range range = new SentEvents.Range(1L, 2L, null, null, "topic", "key");
        ResendJob job = new ResendJob(
                1,
                ResendJob.State.FAILED,
                range,
                Set.of(),
                null,
                1,
                1,
                new ResendJob.Sent(1, 2, 3),
                "error",
                Instant.EPOCH,
                Instant.EPOCH);
        SortedMap<String, SentEvents.Found> found = new TreeMap<>();
        found.put("topic", new SentEvents.Found("topic", 1, 2, 3, 4));
        JsonObject preview = ResendJson.preview(new ResendPreview(
                        new SentEvents.First(1, Instant.EPOCH, 2, 6), found, new TreeSet<>(), 5, true, 6))
                .add("dryRun", false)
                .add("job", 1)
                .build();

        assertThat(ResendJson.job(job).build().keySet()).isEqualTo(rules.properties("ResendJob"));
        assertThat(preview.keySet()).isEqualTo(rules.properties("ResendPreview"));
        assertThat(rules.values("ResendJob", "state"))
                .containsExactlyElementsOf(Arrays.stream(ResendJob.State.values())
                        .map(state -> state.name().toLowerCase(Locale.ROOT))
                        .toList());
    }

    @Test
    void aProcessHasTheDescribedFields() {
        Progress progress = new Progress(System::nanoTime);
        progress.recordLeaseElsewhere("another");

        assertThat(new Health(progress, Duration.ofSeconds(10)).process().keySet())
                .isEqualTo(rules.properties("Process"));
    }

    @Test
    void theDocumentIsReadOnce() {
        assertThat(OperatorApi.document()).isSameAs(document);
    }

    @Test
    void anActionHasTheDescribedFields() {
        ActionLog.Line line =
                new ActionLog.Line(1, Instant.EPOCH, new ActionLog.Action("operator", "http", "retry", "all", 1L));

        assertThat(ActionJson.of(line).build().keySet()).isEqualTo(rules.properties("Action"));
        assertThat(rules.values("Action", "action"))
                .containsExactlyInAnyOrder(
                        ParkedChange.RETRY.action(),
                        ParkedChange.DISCARD.action(),
                        "pause",
                        "resume",
                        "resend",
                        "cancel");
    }
}
