package dev.twinbox.relay.resend;

import dev.twinbox.console.Json;
import dev.twinbox.relay.jdbc.SentEvents;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObjectBuilder;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Jobs and previews as documents. */
public final class ResendJson {
    private ResendJson() {}

    public static JsonObjectBuilder preview(ResendPreview preview) {
        JsonArrayBuilder topics = Json.createArrayBuilder();
        preview.topics()
                .values()
                .forEach(each -> topics.add(Json.createObjectBuilder()
                        .add("topic", each.topic())
                        .add("events", each.events())
                        .add("bytes", each.bytes())
                        .add("first", each.first())
                        .add("last", each.last())
                        .add("isCompacted", preview.compacted().contains(each.topic()))));
        JsonObjectBuilder json = Json.createObjectBuilder()
                .add("events", preview.events())
                .add("topics", topics)
                .add("looked", preview.looked())
                .add("isCut", preview.isCut());
        if (preview.emptiedUpTo() > 0) {
            json.add("emptiedUpTo", preview.emptiedUpTo());
        }
        SentEvents.First first = preview.first();
        if (first != null) {
            JsonObjectBuilder oldest = Json.createObjectBuilder().add("number", first.seq());
            add(oldest, "occurredAt", first.time());
            json.add("oldest", oldest.add("ageSeconds", first.age()));
        }
        return json;
    }

    public static JsonObjectBuilder jobs(List<ResendJob> jobs) {
        JsonArrayBuilder array = Json.createArrayBuilder();
        jobs.forEach(each -> array.add(job(each)));
        return Json.createObjectBuilder().add("jobs", array);
    }

    public static JsonObjectBuilder job(ResendJob job) {
        SentEvents.Range range = job.range();
        JsonObjectBuilder json = Json.createObjectBuilder()
                .add("job", job.number())
                .add("state", job.state().name().toLowerCase(Locale.ROOT));
        add(json, "from", range.from() == null ? range.fromTime() : range.from());
        add(json, "to", range.to() == null ? range.toTime() : range.to());
        add(json, "topic", range.topic());
        add(json, "key", range.key());
        json.add("held", Json.createArrayBuilder(new TreeSet<>(job.held())))
                .add("after", job.after())
                .add("sent", job.sent().sent())
                .add("parked", job.sent().parked())
                .add("refused", job.sent().refused());
        add(json, "error", job.error());
        add(json, "requestedAt", job.requestedAt());
        add(json, "endedAt", job.endedAt());
        return json;
    }

    private static void add(JsonObjectBuilder json, String name, @Nullable Object value) {
        if (value != null) {
            json.add(name, value.toString());
        }
    }
}
