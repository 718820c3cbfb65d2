package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.ParkedSelections;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.ParkedSelection;
import dev.twinbox.relay.jdbc.ParkedState;
import java.sql.Connection;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * TOO-LARGE: an event that Kafka refuses is parked after one try at most, and only its own key waits for an operator.
 */
@Tag("proof")
public class Scenario24TooLargeIT {
    private static final int TOPIC_LIMIT = 500_000;

    /**
     * Refused by the client, by the relay because of the topic's limit, or by the broker: the operator sees no
     * difference.
     */
    @ParameterizedTest(name = "client limit and compression {0}")
    @ValueSource(strings = {"400000 none", "8000000 none", "8000000 lz4"})
    void anEventThatIsTooLargeIsParkedAndOnlyItsKeyWaits(String client) throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic(Map.of("max.message.bytes", Integer.toString(TOPIC_LIMIT)));
                Connection connection = rig.connect()) {
            String limit = client.split(" ")[0];
            rig.kafka.put("max.request.size", limit);
            rig.kafka.put("compression.type", client.split(" ")[1]);
            rig.page = new RelayConfig.Page(100, 4_000_000, 4);
            connection.setAutoCommit(false);
            rig.insert(connection, "k", "k before");
            UUID huge = rig.insert(connection, "k", incompressible(2_000_000));
            rig.insert(connection, "k", "k behind");
            rig.insert(connection, "l", "l before");
            UUID large = rig.insert(connection, "l", incompressible(600_000));
            rig.insert(connection, "l", "l behind");
            UUID keyless = rig.insert(connection, null, incompressible(700_000));
            rig.insert(connection, null, "null behind");
            rig.insert(connection, "m", "m");
            connection.commit();
            connection.setAutoCommit(true);
            EngineRig.Running relay = rig.start();

            rig.awaitParked(ParkedState.REFUSED, 3);
            rig.awaitParked(ParkedState.BEHIND, 2);
            await("the others")
                    .untilAsserted(() -> assertThat(rig.payloads())
                            .containsExactlyInAnyOrder("k before", "l before", "null behind", "m"));
            assertThat(rig.number("select epoch from outbox_lease"))
                    .as("the session goes on")
                    .isOne();
            List<ParkedRows.Line> lines = heads(rig.parked(connection).list(ParkedSelection.ALL, 10));
            assertThat(lines)
                    .extracting(ParkedRows.Line::id)
                    .containsExactly(huge.toString(), large.toString(), keyless.toString());
            assertThat(lines).allSatisfy(line -> {
                assertThat(line.attempts()).isOne();
                assertThat(line.error())
                        .contains(line.id(), "max.message.bytes", "payload bytes")
                        .hasSizeLessThan(2_000);
            });
            assertThat(lines.get(0).error()).matches("(?s).*\\b20\\d{5}\\b.*"); // the event's size

            // The operator fixes one cause, discards another event, and repeats both.
            EngineRig.setTopic(rig.topic, "max.message.bytes", "1000000");
            rig.insert(connection, "l", "l later");
            ParkedRows operator = rig.parked(connection);
            assertThat(operator.discard(ParkedSelections.number(lines.get(0).number())))
                    .isOne();
            assertThat(operator.discard(ParkedSelections.number(lines.get(0).number())))
                    .isZero();
            if (limit.equals("8000000")) {
                ParkedSelection l = ParkedSelections.key(rig.topic, "l");
                assertThat(operator.retry(l)).isOne();
                assertThat(operator.retry(l)).isZero();
                rig.awaitParked(ParkedState.REFUSED, 1);
                await().until(() -> rig.payloadsOf("l").contains("l later"));
                assertThat(new LinkedHashSet<>(rig.payloadsOf("l")))
                        .hasSize(4)
                        .startsWith("l before")
                        .endsWith("l behind", "l later");
            } else {
                assertThat(operator.retry(ParkedSelections.number(lines.get(1).number())))
                        .isOne();
                await().until(() -> rig.number("select max(attempts) from outbox_parked") == 2);
                assertThat(operator.discard(ParkedSelections.number(lines.get(1).number())))
                        .isOne();
                rig.awaitRecords(7);
                assertThat(rig.payloadsOf("l")).containsExactly("l before", "l behind", "l later");
            }
            assertThat(operator.discard(ParkedSelections.number(lines.get(2).number())))
                    .isOne();
            rig.awaitNothingParked();
            assertThat(new LinkedHashSet<>(rig.payloadsOf("k"))).containsExactly("k before", "k behind");
            rig.insert(connection, "k", "k free again");
            rig.insert(connection, "l", "l free again");
            await().until(() -> relay.progress().backlog() == 0
                    && rig.payloadsOf("k").contains("k free again")
                    && rig.payloadsOf("l").contains("l free again"));
            assertThat(rig.number("select count(*) from outbox_parked")).isZero();
        }
    }

    /** The list ends with the events that only wait for an earlier one of their key. */
    private static List<ParkedRows.Line> heads(List<ParkedRows.Line> lines) {
        assertThat(lines.subList(3, lines.size()))
                .hasSize(2)
                .allSatisfy(line -> assertThat(line.state()).isEqualTo(ParkedState.BEHIND));
        return lines.subList(0, 3);
    }

    public static String incompressible(int length) {
        byte[] random = new byte[length * 3 / 4];
        new Random(length).nextBytes(random);
        return Base64.getEncoder().encodeToString(random);
    }
}
