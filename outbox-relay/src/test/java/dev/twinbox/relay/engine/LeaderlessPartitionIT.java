package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.KafkaCluster;
import dev.twinbox.fixtures.Ledger;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.ParkedSelection;
import dev.twinbox.relay.jdbc.ParkedState;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A partition whose only broker is gone blocks its own keys. It delays other keys by no more than
 * {@code stall-timeout}.
 */
@Tag("proof")
class LeaderlessPartitionIT {
    private static final Duration STALL_TIMEOUT = Duration.ofSeconds(4);
    /** The time that a busy machine takes to end a session, begin one and open a producer. */
    private static final Duration RESTART = Duration.ofSeconds(20);

    @Test
    void onlyKeysOfALostBrokerWaitAndAreSentInOrderWhenItIsBack() throws Exception {
        try (KafkaCluster cluster = KafkaCluster.of(2)) {
            cluster.brokers().forEach(broker -> broker.withJvmOptions("-XX:TieredStopAtLevel=1"));
            cluster.start();
            try (EngineRig rig = EngineRig.create();
                    Connection connection = rig.connect()) {
                cluster.createTopic(rig.topic, List.of(List.of(1), List.of(2)));
                rig.kafka.put("bootstrap.servers", cluster.bootstrapServers());
                rig.stallTimeout = STALL_TIMEOUT;
                rig.page = new RelayConfig.Page(10, 3_000, 2); // Less room in flight than the stalled records need.
                EngineRig.Running relay = rig.start();
                insert(rig, connection, 10);
                await().atMost(RESTART).until(() -> relay.progress().acknowledgedRecords() == 20);
                cluster.broker(2).kill();
                insert(rig, connection, 30);

                await("the others")
                        .atMost(STALL_TIMEOUT.plus(RESTART))
                        .until(() -> endOfPartition0(cluster, rig.topic) == 40);
                rig.awaitParked(ParkedState.WAITING, 3);
                rig.awaitParked(ParkedState.BEHIND, 27);
                assertThat(rig.parked(connection).list(ParkedSelection.ALL, 10))
                        .filteredOn(line -> line.state() != ParkedState.BEHIND)
                        .hasSize(3)
                        .allSatisfy(line -> assertThat(line.error()).contains("partition 1 of topic"));
                assertThat(rig.number("select sum(attempts) from outbox_parked"))
                        .isZero();
                insert(rig, connection, 5);
                await("what comes later").atMost(RESTART).until(() -> endOfPartition0(cluster, rig.topic) == 45);

                cluster.broker(2).start();
                rig.awaitNothingParked();
                insert(rig, connection, 5);
                await().atMost(RESTART)
                        .until(() -> relay.progress().backlog() == 0 && endOfPartition0(cluster, rig.topic) == 50);
                Ledger.create()
                        .committed(connection, "select topic, key, id, payload from outbox_event order by seq")
                        .published(cluster.bootstrapServers())
                        .assertExact();
                assertThat(relay.end()).isNotDone();
            }
        }
    }

    /** Writes this many events for each of the two partitions, alternating, in one transaction. */
    private static void insert(EngineRig rig, Connection connection, int each) throws Exception {
        connection.setAutoCommit(false);
        for (int i = 0; i < each; i++) {
            rig.insert(connection, keyOf(0, i % 3), "moves");
            rig.insert(connection, keyOf(1, i % 3), "stands still");
        }
        connection.commit();
        connection.setAutoCommit(true);
    }

    private static String keyOf(int partition, int index) {
        return IntStream.range(0, 1_000)
                .mapToObj(i -> "key" + i)
                .filter(key -> Utils.toPositive(Utils.murmur2(key.getBytes(StandardCharsets.UTF_8))) % 2 == partition)
                .skip(index)
                .findFirst()
                .orElseThrow();
    }

    private static long endOfPartition0(KafkaCluster cluster, String topic) throws Exception {
        TopicPartition partition = new TopicPartition(topic, 0);
        try (Admin admin =
                Admin.create(Map.of("bootstrap.servers", cluster.broker(1).bootstrapServers()))) {
            return admin.listOffsets(Map.of(partition, OffsetSpec.latest()))
                    .partitionResult(partition)
                    .get(90, TimeUnit.SECONDS)
                    .offset();
        }
    }
}
