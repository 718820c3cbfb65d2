package dev.twinbox.relay.operator;

import dev.twinbox.console.Json;
import dev.twinbox.relay.jdbc.ParkedCauses;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObject;
import jakarta.json.JsonObjectBuilder;

/** Why events are parked, and what to do, as JSON. */
public final class CausesJson {

    private CausesJson() {}

    public static JsonObject of(ParkedCauses causes) {
        JsonArrayBuilder groups = Json.createArrayBuilder();
        causes.groups().forEach(group -> groups.add(group(group)));
        return Json.createObjectBuilder()
                .add("causes", groups)
                .add("moving", causes.moving())
                .add("isCut", causes.isCut())
                .build();
    }

    private static JsonObjectBuilder group(ParkedCauses.Group group) {
        JsonObjectBuilder json = Json.createObjectBuilder()
                .add("cause", group.cause().text())
                .add("title", title(group.cause()))
                .add("remedy", remedy(group.cause()))
                .add("topic", group.topic())
                .add("keys", group.keys())
                .add("events", group.events())
                .add("refused", group.refused())
                .add("oldest", group.oldest().toString())
                .add("example", group.example());
        if (group.error() != null) {
            json.add("error", group.error());
        }
        return json;
    }

    private static String title(ParkedCauses.Cause cause) {
        return switch (cause) {
            case PAUSED -> "The topic is paused";
            case TOO_LARGE -> "The event is too large for the topic";
            case MISSING_TOPIC -> "The topic does not exist";
            case NOT_AUTHORISED -> "The relay may not write to the topic";
            case ILLEGAL_TOPIC -> "The topic's name is not legal";
            case NO_KEY -> "The topic is compacted, and the event has no key";
            case TIMESTAMP -> "The topic refuses the time of the record";
            case STALLED -> "Partitions of the topic accept nothing";
            case REFUSED -> "Kafka refused the event";
            case INCOMPLETE -> "A part of the event could not be kept";
            case OTHER -> "Another cause: read the error";
        };
    }

    private static String remedy(ParkedCauses.Cause cause) {
        return switch (cause) {
            case PAUSED ->
                "Resume the topic when its events may be sent. They follow in order. A retry sends nothing before that.";
            case TOO_LARGE ->
                "Raise max.message.bytes of the topic and, if it is lower, twinbox.relay.kafka.max.request.size. Then "
                        + "retry. If consumers do not need the event, discard it.";
            case MISSING_TOPIC ->
                "Create the topic: the relay never does. Events that still wait are sent by themselves. Retry those "
                        + "that have waited too long.";
            case NOT_AUTHORISED -> "Grant the relay's principal Write on the topic. Then retry.";
            case ILLEGAL_TOPIC -> "No retry helps. Correct the topic in the application, publish again, and discard.";
            case NO_KEY ->
                "Set cleanup.policy of the topic to delete, and retry. Or publish again with a key, and discard.";
            case TIMESTAMP ->
                "Check message.timestamp.after.max.ms and message.timestamp.before.max.ms of the topic, and the clocks "
                        + "of the relay and of the brokers. The relay tries again by itself.";
            case STALLED ->
                "Check leaders and in-sync replicas of the topic. The relay tries again by itself. Retry those that "
                        + "have waited too long.";
            case REFUSED -> "Do what the error says. Then retry.";
            case INCOMPLETE -> "No retry helps. Publish the event again if it is needed, and discard it here.";
            case OTHER -> "Do what the error says. Then retry, or discard what nobody needs.";
        };
    }
}
