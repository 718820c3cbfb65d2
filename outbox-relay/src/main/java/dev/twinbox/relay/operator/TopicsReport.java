package dev.twinbox.relay.operator;

import dev.twinbox.console.Json;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.jdbc.PausedTopicTable;
import dev.twinbox.relay.jdbc.TopicCounts;
import dev.twinbox.relay.kafka.TopicState;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObject;
import jakarta.json.JsonObjectBuilder;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/**
 * What the relay knows of each topic. Nothing is changed.
 *
 * @param topics by name
 * @param pausedSince since when an operator has stopped the sending to all topics; null: it is not stopped
 * @param isCut whether there are more topics, or more events, than were counted
 * @param kafkaUnknown why Kafka could not be asked; null: it was
 */
public record TopicsReport(
        SortedMap<String, Line> topics,
        @Nullable Instant pausedSince,
        boolean isCut,
        @Nullable String kafkaUnknown) {
    private static final int MOST_TOPICS = 500;

    /**
     * One topic.
     *
     * @param hasUnsent whether events for it are unsent
     * @param parked events for it, by state
     * @param pausedSince since when an operator has paused it; null: it is not paused
     * @param state on Kafka; null: Kafka could not be asked
     */
    public record Line(
            boolean hasUnsent,
            Map<ParkedState, Integer> parked,
            @Nullable Instant pausedSince,
            @Nullable TopicState state) {}

    /**
     * The report as of now.
     *
     * @param connection for this report only
     */
    public static TopicsReport of(RelayConfig config, Connection connection) throws SQLException {
        Instant paused = new LeaseTable(connection, config.tables(), config.name()).pausedSince();
        TopicCounts counts = TopicCounts.of(connection, config.tables(), config.name());
        SortedMap<String, Instant> pausedTopics =
                new PausedTopicTable(connection, config.tables(), config.name()).topics();
        SortedSet<String> known = new TreeSet<>(counts.topics());
        known.addAll(pausedTopics.keySet());
        List<String> names = known.stream().limit(MOST_TOPICS).toList();
        Map<String, TopicState> states = Map.of();
        String unknown = null;
        try {
            states = TopicState.of(new TreeSet<>(names), config.kafka());
        } catch (KafkaException e) {
            unknown = "Kafka at " + config.kafka().bootstrapServers() + " cannot be asked: " + e.getMessage()
                    + "; check the brokers and the network";
        }
        SortedMap<String, Line> topics = new TreeMap<>();
        for (String name : names) {
            Map<ParkedState, Integer> parked = counts.parked().getOrDefault(name, Map.of());
            topics.put(
                    name, new Line(counts.unsent().contains(name), parked, pausedTopics.get(name), states.get(name)));
        }
        boolean isCut = counts.isCut() || names.size() < known.size();
        return new TopicsReport(topics, paused, isCut, unknown);
    }

    /** The report as one document. */
    public JsonObject json() {
        JsonArrayBuilder array = Json.createArrayBuilder();
        topics.forEach((name, line) -> array.add(json(name, line)));
        JsonObjectBuilder json = Json.createObjectBuilder();
        if (pausedSince != null) {
            json.add("pausedSince", pausedSince.toString());
        }
        json.add("topics", array).add("isCut", isCut);
        if (kafkaUnknown != null) {
            json.add("kafkaUnknown", kafkaUnknown);
        }
        return json.build();
    }

    private static JsonObjectBuilder json(String name, Line line) {
        JsonObjectBuilder parked = Json.createObjectBuilder();
        line.parked().forEach((state, number) -> parked.add(state.sql(), number));
        JsonObjectBuilder json = Json.createObjectBuilder()
                .add("topic", name)
                .add("hasUnsent", line.hasUnsent())
                .add("parked", parked);
        if (line.pausedSince() != null) {
            json.add("pausedSince", line.pausedSince().toString());
        }
        TopicState state = line.state();
        if (state != null && state.problem() != null) {
            json.add("problem", state.problem());
        } else if (state != null) {
            json.add("partitions", state.partitions());
            json.add("leaderless", Json.createArrayBuilder(state.leaderless()));
        }
        return json;
    }
}
