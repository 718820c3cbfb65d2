package dev.twinbox.inbox.event;

import java.util.Map;

/**
 * How the producer of a topic writes its events.
 *
 * @param id where an event's id is
 * @param type where its type is
 * @param value what is around its value
 */
public record TopicFormat(Origin id, Origin type, Wrapping value) {

    /** As a relay of ours writes them, and everyone who follows CloudEvents' binding for Kafka. */
    public static final TopicFormat CLOUD_EVENTS =
            new TopicFormat(Origin.Attribute.ID, Origin.Attribute.TYPE, Wrapping.NONE);

    /** What is around the value that a handler is to get. */
    public enum Wrapping {
        /** Nothing, unless the content type says that the record is a structured CloudEvent. */
        NONE,
        /** What Kafka Connect's {@code JsonConverter} puts around it. */
        CONNECT_JSON
    }

    /**
     * Those of all topics.
     *
     * @param common of topics that have none of their own
     * @param own by topic
     */
    public record OfTopics(TopicFormat common, Map<String, TopicFormat> own) {

        public static final OfTopics CLOUD_EVENTS = new OfTopics(TopicFormat.CLOUD_EVENTS, Map.of());

        public TopicFormat of(String topic) {
            return own.getOrDefault(topic, common);
        }

        @Override
        public String toString() {
            return common + (own.isEmpty() ? "" : " " + own);
        }
    }

    @Override
    public String toString() {
        return "(event-id=" + id + ", event-type=" + type + ", value-format="
                + (value == Wrapping.NONE ? "plain" : "connect-json") + ")";
    }
}
