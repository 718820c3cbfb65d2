package dev.twinbox.inbox.console;

import dev.twinbox.console.operator.JsonText;
import dev.twinbox.inbox.jdbc.HandlerTable;
import java.util.Locale;

/** An announced handler as JSON. */
public final class HandlerJson {

    private HandlerJson() {}

    /** All that is announced, and whether a running instance has it. */
    public static JsonText of(HandlerTable.Row row) {
        return new JsonText()
                .with("group", row.group())
                .with("topic", row.handler().topic())
                .with("type", row.handler().type())
                .with("handler", row.handler().handler())
                .with("delivery", delivery(row))
                .with("running", row.isThere())
                .with("seenAt", row.seenAt());
    }

    /** Its delivery contract in lower case. */
    public static String delivery(HandlerTable.Row row) {
        return row.handler().delivery().name().toLowerCase(Locale.ROOT);
    }
}
