package dev.twinbox.inbox.console;

import dev.twinbox.console.operator.JsonText;
import dev.twinbox.inbox.jdbc.ParkedCauses;
import jakarta.json.JsonObject;

/** Why events are parked, and what to do, as JSON. */
final class CausesJson {
    private static final String REMEDY =
            "Do what the error says: correct the data, the handler or what it calls. Then retry. Discard what nobody needs.";
    private static final String REMEDY_UNREAD =
            "No handler can read these records. Correct the sender, and publish again. Then discard.";

    private static final String REMEDY_PAUSED =
            "Resume the handler when it may be called. Its events follow in order. A retry calls nothing before that.";

    private CausesJson() {}

    static JsonObject of(ParkedCauses causes) {
        return new JsonText()
                .with("causes", causes.groups().stream().map(CausesJson::group).toList())
                .with("moving", causes.moving())
                .with("isCut", causes.isCut())
                .build();
    }

    private static JsonText group(ParkedCauses.Group group) {
        String cause = group.cause().isEmpty() ? "no error" : group.cause();
        String who = group.handler() == null ? "No handler" : "Handler " + group.handler();
        return new JsonText()
                .with("cause", group.cause())
                .with("title", who + " of group " + group.group() + (group.isPaused() ? " is paused: " : ": ") + cause)
                .with("remedy", remedy(group))
                .with("isPaused", group.isPaused())
                .with("group", group.group())
                .with("handler", group.handler())
                .with("keys", group.keys())
                .with("events", group.events())
                .with("refused", group.givenUp())
                .with("oldest", group.oldest())
                .with("example", group.example())
                .with("error", group.error())
                .with(
                        "selection",
                        new JsonText()
                                .with("group", group.group())
                                .with("handler", group.handler())
                                .with("error", group.cause().isEmpty() ? null : group.cause()));
    }

    private static String remedy(ParkedCauses.Group group) {
        if (group.isPaused()) {
            return REMEDY_PAUSED;
        }
        return group.handler() == null ? REMEDY_UNREAD : REMEDY;
    }
}
