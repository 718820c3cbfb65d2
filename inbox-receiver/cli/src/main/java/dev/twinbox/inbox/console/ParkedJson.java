package dev.twinbox.inbox.console;

import dev.twinbox.ParkedEvent;
import dev.twinbox.console.operator.JsonText;
import dev.twinbox.console.operator.Payload;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** A parked event as JSON. What an event does not have is left out. */
public final class ParkedJson {

    private ParkedJson() {}

    /** As listed: without headers and value. */
    public static JsonText line(ParkedEvent event) {
        return new JsonText()
                .with("number", event.number())
                .with("state", event.state())
                .with("group", event.group())
                .with("topic", event.topic())
                .with("partition", event.partition())
                .with("offset", event.offset())
                .with("key", text(event.key()))
                .with("type", event.eventType())
                .with("id", event.eventId())
                .with("handler", event.handler())
                .with("attempts", event.attempts())
                .with("parkedAt", event.parkedAt())
                .with("nextTry", event.nextTryAt())
                .with("error", event.error());
    }

    /** All that is known except the value. */
    public static JsonText details(ParkedEvent event) {
        return line(event)
                .with("time", event.time())
                .with("failedAt", event.failedAt())
                .with(
                        "headers",
                        event.headers().stream()
                                .map(header -> new JsonText()
                                        .with("name", header.name())
                                        .with("value", text(header.value())))
                                .toList());
    }

    /** What is not UTF-8 in hexadecimal digits. */
    public static @Nullable String text(byte @Nullable [] bytes) {
        if (bytes == null) {
            return null;
        }
        String text = Payload.text(bytes);
        return text == null ? "0x" + HexFormat.of().formatHex(bytes) : text;
    }
}
