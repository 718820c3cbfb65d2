package dev.twinbox.inbox.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.DeliveryContract;
import dev.twinbox.ParkedEvent;
import dev.twinbox.console.Access;
import dev.twinbox.console.actions.ActionJson;
import dev.twinbox.console.actions.ActionLog;
import dev.twinbox.console.operator.ApiDocument;
import dev.twinbox.console.search.SearchedPlace;
import dev.twinbox.console.search.TopicRecord;
import dev.twinbox.fixtures.OpenApiRules;
import dev.twinbox.inbox.jdbc.AnnouncedHandler;
import dev.twinbox.inbox.jdbc.HandledRows;
import dev.twinbox.inbox.jdbc.HandlerTable;
import dev.twinbox.inbox.jdbc.OffsetTable;
import dev.twinbox.inbox.jdbc.ParkedCauses;
import dev.twinbox.inbox.jdbc.PausedTable;
import dev.twinbox.inbox.jdbc.ReplayJob;
import dev.twinbox.inbox.jdbc.ReplayTable;
import dev.twinbox.inbox.jdbc.RetentionTable;
import dev.twinbox.inbox.jdbc.SelectedRows;
import dev.twinbox.jdbc.SqlIdentifier;
import jakarta.json.JsonObject;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The document says what the API does, and is whole. */
class OpenApiTest {
    private static final InboxDatabase NONE = new InboxDatabase(new SqlIdentifier(null, "inbox_event"), () -> {
        throw new SQLException("none");
    });
    private static final HandlerTable.Row HANDLER = new HandlerTable.Row(
            "group",
            new AnnouncedHandler("topic", "type", "handler", DeliveryContract.AT_LEAST_ONCE),
            Instant.EPOCH,
            true);
    private static final ParkedEvent PARKED = new ParkedEvent(
            1,
            "group",
            "handler",
            "id",
            "type",
            ParkedEvent.State.RETRY,
            "topic",
            0,
            1,
            Instant.EPOCH,
            new byte[] {1},
            new byte[] {1},
            List.of(new ParkedEvent.RawHeader("a", new byte[] {2})),
            1,
            "error",
            Instant.EPOCH,
            Instant.EPOCH,
            Instant.EPOCH);

    private final OpenApiRules rules = new OpenApiRules(ApiDocument.read(ReceiverApi.class));

    @Test
    void itHasEachOperationAndNoOthers() {
        Access access = new Access(true, Set.of(), null, null, System::nanoTime);

        assertThat(rules.routes())
                .isEqualTo(ReceiverApi.of(NONE, ConsoleConfig.read(null, Map.of(), Map.of()), access)
                        .routes())
                .hasSizeGreaterThan(10);
    }

    @Test
    void eachOperationIsWhole() {
        assertThat(rules.problems()).isEmpty();
        assertThat(rules.brokenReferences()).isEmpty();
    }

    @Test
    void aParkedEventHasTheDescribedFields() {
        assertThat(ParkedJson.line(PARKED).build().keySet()).isEqualTo(rules.properties("ParkedLine"));
        assertThat(ParkedJson.details(PARKED).with("valueBytes", 1).build().keySet())
                .isEqualTo(rules.properties("ParkedEvent"));
        assertThat(rules.values("ParkedLine", "state"))
                .isEqualTo(Stream.of(ParkedEvent.State.values()).map(Enum::name).toList());
    }

    @Test
    void anEventHasTheDescribedFieldsAndStates() {
        TopicRecord record = new TopicRecord("topic", 0, 1, Instant.EPOCH, "id", "type");
        JsonObject event = new Whereabouts(
                        "id",
                        List.of(PARKED),
                        List.of(new HandledRows.Handled("group", "handler", "id", Instant.EPOCH)),
                        List.of(new Whereabouts.FoundRecord(record, List.of("a"), List.of("b"))))
                .json()
                .build();

        assertThat(event.keySet()).isEqualTo(rules.properties("EventState"));
        assertThat(event.getJsonArray("records").getJsonObject(0).keySet()).isEqualTo(rules.properties("Record"));
        assertThat(rules.values("EventState", "state"))
                .isEqualTo(Stream.of(Whereabouts.State.values())
                        .map(Whereabouts.State::text)
                        .toList());
        assertThat(new SearchedPlace("topic", 1, true, Instant.EPOCH, Instant.EPOCH, "problem")
                        .json()
                        .build()
                        .keySet())
                .isEqualTo(rules.properties("SearchedPlace"));
    }

    @Test
    void theStatusHasTheDescribedFields() {
        GroupFacts facts = new GroupFacts(
                List.of(HANDLER),
                List.of(),
                List.of(new OffsetTable.Row("group", "topic", 0, 1)),
                List.of(new RetentionTable.Row("group", Instant.EPOCH, Instant.EPOCH)));
        TableStatus tables = new TableStatus(
                "8",
                1L,
                List.of(new SelectedRows.Group("group", "handler", "DEAD", 1, "2026")),
                List.of(new HandlerTable.Unowned("group", "handler", "topic", "type", 1, Instant.EPOCH)),
                List.of(
                        new PausedTable.Row("group", PausedTable.Kind.TOPIC, "topic", Instant.EPOCH),
                        new PausedTable.Row("group", PausedTable.Kind.HANDLER, "handler", Instant.EPOCH)));
        GroupLag lag =
                new GroupLag("group", "Stable", 1, List.of(new GroupLag.Partition("topic", 0, 1L, 1L, 3L)), "problem");
        JsonObject status = new StatusReport(
                        tables,
                        facts,
                        List.of(new HandledRows.Effects("group", "handler", 1, Instant.EPOCH, false)),
                        List.of(lag),
                        new TreeMap<>(Map.of("topic", "create it")),
                        "database",
                        "Kafka")
                .json();

        assertThat(status.keySet()).isEqualTo(rules.properties("Status"));
        assertFields(status, "groups", "Group");
        assertFields(status, "handlers", "Handler");
        assertFields(status, "effects", "Effects");
        assertFields(status, "retention", "Retention");
        JsonObject partition = status.getJsonArray("groups")
                .getJsonObject(0)
                .getJsonArray("partitions")
                .getJsonObject(0);
        assertThat(partition.keySet()).isEqualTo(rules.properties("Partition"));
        assertThat(partition.getInt("lag")).isEqualTo(2);
        assertThat(status.getJsonArray("troubles")).hasSize(6);
    }

    @Test
    void aReplayHasTheDescribedFieldsAndStates() {
        List<ReplayJob.Partition> partitions = List.of(new ReplayJob.Partition(0, 1, 3, 2));
        ReplayPlan plan = new ReplayPlan(
                new ReplayTable.Request(
                        "group", "handler", "topic", new UUID(1, 2), "key", true, "1", "now", partitions),
                List.of("note"));
        ReplayJob job = new ReplayJob(
                1,
                "group",
                "handler",
                "topic",
                new UUID(1, 2),
                "key",
                true,
                "1",
                "now",
                partitions,
                ReplayJob.State.FAILED,
                ReplayJob.Counts.NONE,
                "error",
                Instant.EPOCH,
                Instant.EPOCH);

        JsonObject planned = ReplayJson.planned(plan, 1L, List.of("warning"));
        assertThat(planned.keySet()).isEqualTo(rules.properties("ReplayPlan"));
        assertThat(planned.getJsonArray("partitions").getJsonObject(0).keySet())
                .isEqualTo(rules.properties("ReplayPartition"));
        assertThat(ReplayJson.job(job).build().keySet()).isEqualTo(rules.properties("ReplayJob"));
        assertThat(rules.values("ReplayJob", "state"))
                .isEqualTo(Stream.of(ReplayJob.State.values())
                        .map(ReplayJob.State::text)
                        .toList());
    }

    @Test
    void aCauseHasTheDescribedFieldsAndSelectsItsEvents() {
        ParkedCauses.Group group =
                new ParkedCauses.Group("group", "handler", "OrderException", false, 1, 2, 1, Instant.EPOCH, 7, "error");
        JsonObject causes = CausesJson.of(new ParkedCauses(List.of(group), 0, false));
        JsonObject cause = causes.getJsonArray("causes").getJsonObject(0);

        assertThat(causes.keySet()).isEqualTo(rules.properties("Causes"));
        assertThat(cause.keySet()).isEqualTo(rules.properties("Cause"));
        assertThat(cause.getJsonObject("selection"))
                .hasToString("{\"group\":\"group\",\"handler\":\"handler\",\"error\":\"OrderException\"}");
    }

    @Test
    void anActionHasTheDescribedFields() {
        ActionLog.Line line =
                new ActionLog.Line(1, Instant.EPOCH, new ActionLog.Action("operator", "http", "retry", "all", 1L));

        assertThat(ActionJson.of(line).build().keySet()).isEqualTo(rules.properties("Action"));
        assertThat(rules.values("Action", "action"))
                .startsWith(ParkedChange.RETRY.action(), ParkedChange.DISCARD.action());
    }

    private void assertFields(JsonObject status, String array, String schema) {
        assertThat(status.getJsonArray(array).getJsonObject(0).keySet()).isEqualTo(rules.properties(schema));
    }
}
