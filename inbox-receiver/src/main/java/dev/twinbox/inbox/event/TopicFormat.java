package dev.twinbox.inbox.event;

import java.util.Map;

/**
 * The format in which the producer of a topic writes its events.
 *
 * @param id the place of an event's id
 * @param type the place of its type
 * @param value the wrapping of its value
 */
public record TopicFormat(Origin id, Origin type, Wrapping value) {

    /** The format of Twinbox's relay, and of every producer that follows CloudEvents' binding for Kafka. */
    public static final TopicFormat CLOUD_EVENTS =
            new TopicFormat(Origin.Attribute.ID, Origin.Attribute.TYPE, Wrapping.NONE);

    /** The wrapping around the value that a handler gets. */
    public enum Wrapping {
        /** None, unless the content type declares a structured CloudEvent. */
        NONE,
        /** The wrapping of Kafka Connect's {@code JsonConverter}. */
        CONNECT_JSON
    }

    /**
     * The formats of all topics.
     *
     * @param common the format of topics without one of their own
     * @param own formats by topic
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
