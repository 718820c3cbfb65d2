package dev.twinbox.relay.operator;

import dev.twinbox.console.Json;
import dev.twinbox.console.search.TopicRecord;
import dev.twinbox.relay.jdbc.FoundEvent;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObjectBuilder;
import org.jspecify.annotations.Nullable;

/** Where events are, as JSON. What is not known is left out. */
public final class EventJson {

    private EventJson() {}

    /** The answer about one event. */
    public static JsonObjectBuilder one(EventAnswer answer) {
        return event(answer.events().get(0)).addAll(search(answer));
    }

    /** The answer about several events. */
    public static JsonObjectBuilder all(EventAnswer answer) {
        JsonArrayBuilder events = Json.createArrayBuilder();
        answer.events().forEach(each -> events.add(event(each)));
        return Json.createObjectBuilder().add("events", events).addAll(search(answer));
    }

    private static JsonObjectBuilder event(Whereabouts event) {
        JsonObjectBuilder json = Json.createObjectBuilder();
        add(json, "id", event.id());
        json.add("state", event.state().text());
        json.add("explanation", event.state().explanation());
        FoundEvent known = event.known();
        if (known != null) {
            json.add("topic", known.topic());
            add(json, "key", known.key());
            add(json, "type", known.type());
            add(json, "occurredAt", known.occurredAt());
            add(json, "deliverAt", known.deliverAt());
        }
        FoundEvent parked = event.parked();
        if (parked != null) {
            JsonObjectBuilder details = Json.createObjectBuilder().add("number", parked.number());
            add(details, "state", parked.state() == null ? null : parked.state().sql());
            add(details, "error", parked.error());
            json.add("parked", details);
        }
        JsonArrayBuilder records = Json.createArrayBuilder();
        event.records().forEach(each -> records.add(record(each)));
        return json.add("records", records);
    }

    private static JsonObjectBuilder record(TopicRecord record) {
        return Json.createObjectBuilder()
                .add("topic", record.topic())
                .add("partition", record.partition())
                .add("offset", record.offset())
                .add("timestamp", record.timestamp().toString());
    }

    private static JsonObjectBuilder search(EventAnswer answer) {
        JsonArrayBuilder places = Json.createArrayBuilder();
        answer.searched().forEach(each -> places.add(each.json().build()));
        return Json.createObjectBuilder().add("searched", places).add("isCut", answer.isCut());
    }

    private static void add(JsonObjectBuilder json, String name, @Nullable Object value) {
        if (value != null) {
            json.add(name, value.toString());
        }
    }
}
