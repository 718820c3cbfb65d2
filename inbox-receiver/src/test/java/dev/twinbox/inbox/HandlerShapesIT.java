package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("proof")
class HandlerShapesIT {

    private final Database database = MainApp.database();
    private final Topics topics = MainApp.topics();

    @Test
    void everyShapeGetsTheEventAsItAskedForIt() {
        String id = Topics.id();
        String json = "{\"id\":\"" + id + "\",\"text\":\"größer\"}";

        topics.send("shapes", 1, id, "shape.typed", json);
        awaitInbox(id, 4);

        assertThat(effects("typed")).contains(id + " größer");
        assertThat(effects("withContext"))
                .contains(id + " shape.typed /tests 2026-11-29T12:00:00.123Z key-1 shapes 1 "
                        + "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        assertThat(effects("list")).contains(id);
        assertThat(effects("bytes")).contains(json);
    }

    @Test
    void aRequestScopedBeanCanBeUsedByAHandler() {
        String id = Topics.id();

        topics.send("shapes", 0, id, "shape.typed", "{\"id\":\"" + id + "\",\"text\":\"x\"}");
        awaitInbox(id, 4);

        assertThat(effects("request")).contains("request scope is active");
    }

    @Test
    void textIsPassedAsItIsAndABusinessInterfaceWillDo() {
        String id = Topics.id();

        topics.send("shapes", 0, id, "shape.text", "no JSON " + id);
        awaitInbox(id, 2);

        assertThat(effects("text")).contains("no JSON " + id);
        assertThat(effects("ofInterface")).contains("no JSON " + id);
    }

    @Test
    void aTombstoneArrivesAsNull() {
        String id = Topics.id();

        topics.send("shapes", 0, id, "shape.gone", null);
        awaitInbox(id, 1);

        assertThat(effects("tombstone")).contains("no value");
    }

    @Test
    void aTypeThatNobodyHandlesIsSkippedCountedAndNamedOnce() {
        long before = MainApp.status("main", "skipped");

        topics.send("shapes", 0, Topics.id(), "shape.foreign", "x");
        topics.send("shapes", 0, Topics.id(), "shape.foreign", "x");
        MainApp.awaitLagZero(MainApp.GROUP, "shapes");

        assertThat(MainApp.status("main", "skipped") - before).isEqualTo(2);
        assertThat(Servers.payara().log().lines())
                .filteredOn(line -> line.contains("No handler takes events of type shape.foreign on topic shapes"))
                .hasSize(1);
    }

    private void awaitInbox(String id, long rows) {
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(database.count("inbox_event where event_id = ?", id))
                        .isEqualTo(rows));
    }

    private List<String> effects(String handler) {
        return database.effects(handler);
    }
}
