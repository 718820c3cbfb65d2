package dev.twinbox.console.search;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A record of an event on a topic.
 *
 * @param id of the event
 * @param type of the event
 * @param timestamp of the record: the time of sending, unless the topic has another rule
 */
public record TopicRecord(
        String topic,
        int partition,
        long offset,
        Instant timestamp,
        String id,
        @Nullable String type) {}
