package dev.twinbox.inbox.jdbc;

import dev.twinbox.inbox.event.Delivery;
import dev.twinbox.inbox.event.SourceHash;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The deliveries that one claim asks for, in columns as the statement takes them.
 *
 * <p>Kafka may hold an event twice, under different keys too. Of a handler that claims, only the first copy is asked
 * for. Otherwise one copy could be claimed while the other one has to wait for its key. The event would then be both
 * claimed and parked, and would have no effect.
 */
final class ClaimParameters {

    private record Claim(String handler, String eventId) {}

    private final List<Delivery> asked;

    /** By handler and id. Several deliveries are of several sources. */
    private final Map<Claim, List<Delivery>> claims;

    ClaimParameters(List<Delivery> deliveries) {
        asked = new ArrayList<>(deliveries.size());
        claims = new HashMap<>(2 * deliveries.size());
        for (Delivery delivery : deliveries) {
            if (!delivery.handler().claims() || isFirst(delivery)) {
                asked.add(delivery);
            }
        }
    }

    private boolean isFirst(Delivery delivery) {
        Claim claim = new Claim(delivery.handler().name(), delivery.event().id());
        List<Delivery> ofId = claims.computeIfAbsent(claim, c -> new ArrayList<>(1));
        long source = delivery.event().source();
        for (Delivery earlier : ofId) {
            long other = earlier.event().source();
            if (other == source || other == SourceHash.NONE || source == SourceHash.NONE) {
                return false;
            }
        }
        return ofId.add(delivery);
    }

    /** Sets the first five parameters. */
    int bind(Connection connection, PreparedStatement statement) throws SQLException {
        return bind(connection, statement, 0);
    }

    /** Sets the next five parameters. Returns the number of the last one. */
    int bind(Connection connection, PreparedStatement statement, int before) throws SQLException {
        int size = asked.size();
        byte @Nullable [][] keys = new byte @Nullable [size][];
        Boolean[] guarded = new Boolean[size];
        for (int i = 0; i < size; i++) {
            Delivery delivery = asked.get(i);
            keys[i] = delivery.event().keyHash();
            guarded[i] = delivery.handler().claims();
        }
        setNames(connection, statement, before);
        statement.setArray(before + 3, connection.createArrayOf("bytea", keys));
        statement.setArray(before + 4, connection.createArrayOf("boolean", guarded));
        statement.setArray(before + 5, connection.createArrayOf("bigint", sources()));
        return before + 5;
    }

    /** Sets the first three parameters: handlers, ids and sources. */
    int bindIdentities(Connection connection, PreparedStatement statement) throws SQLException {
        setNames(connection, statement, 0);
        statement.setArray(3, connection.createArrayOf("bigint", sources()));
        return 3;
    }

    private void setNames(Connection connection, PreparedStatement statement, int before) throws SQLException {
        int size = asked.size();
        String[] handlers = new String[size];
        String[] ids = new String[size];
        for (int i = 0; i < size; i++) {
            handlers[i] = asked.get(i).handler().name();
            ids[i] = asked.get(i).event().id();
        }
        statement.setArray(before + 1, connection.createArrayOf("text", handlers));
        statement.setArray(before + 2, connection.createArrayOf("text", ids));
    }

    private Long[] sources() {
        return asked.stream().map(delivery -> delivery.event().source()).toArray(Long[]::new);
    }

    Long[] offsets() {
        return asked.stream().map(delivery -> delivery.event().offset()).toArray(Long[]::new);
    }

    /** The delivery that was claimed. */
    Delivery claimed(String handler, String eventId, long source) {
        for (Delivery delivery : claims.getOrDefault(new Claim(handler, eventId), List.of())) {
            if (delivery.event().source() == source) {
                return delivery;
            }
        }
        throw new IllegalStateException("event " + eventId + " was claimed for handler " + handler
                + ", but was not asked for. This is a defect of Twinbox: report it");
    }

    /** @param place number in the order in which they were asked for, from 1 on */
    Delivery at(int place) {
        return asked.get(place - 1);
    }
}
