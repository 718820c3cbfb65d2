package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.OtlpReceiver;
import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.fixtures.ToldSpan;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.kafka.Tracing;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.header.Header;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * TRACE, the relay's side: the trace does not end at the database. The record keeps the context in which the event was
 * created. Only sampled events have a cost.
 */
@Tag("proof")
class Scenario55TraceIT {
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final String CREATE = "b7ad6b7169203331";
    private static final String SAMPLED = "00-" + TRACE + "-" + CREATE + "-01";
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Test
    void sampledEventsGetASpanBelowTheOneThatCreatedThemAndOthersGetNone() throws Exception {
        try (OtlpReceiver collector = OtlpReceiver.start();
                RelayRig rig = RelayRig.create()) {
            String late = rig.topic() + "-late";
            List<UUID> unsampled;
            UUID sampled;
            UUID parked;
            try (Connection connection = rig.connect()) {
                unsampled = List.of(
                        insert(connection, rig.topic()),
                        insert(connection, rig.topic(), "traceparent", "00-" + TRACE + "-" + CREATE + "-00"),
                        insert(connection, rig.topic(), "traceparent", "00-" + TRACE + "-not a span id-01"),
                        insert(connection, rig.topic(), "traceparent", ""),
                        insert(connection, rig.topic(), "traceparent", "x".repeat(200)));
                parked = insert(connection, late, "traceparent", SAMPLED);
                sampled = insert(connection, rig.topic(), "traceparent", SAMPLED, "tracestate", "vendor=1");
            }
            RelayProcess relay = rig.startRelay(collector.settings());
            rig.awaitRecords(unsampled.size() + 1);

            ToldSpan send = awaitSpan(collector, sampled);
            assertThat(send.service()).isEqualTo("twinbox-relay");
            assertThat(send.name()).isEqualTo("send " + rig.topic());
            assertThat(send.kind()).isEqualTo("CLIENT");
            assertThat(send.trace()).isEqualTo(TRACE);
            assertThat(send.parent()).isEqualTo(CREATE);
            assertThat(send.links()).containsExactly(TRACE + "-" + CREATE);
            assertThat(send.failed()).isFalse();
            assertThat(send.attributes())
                    .containsEntry("messaging.system", "kafka")
                    .containsEntry("messaging.operation.name", "send")
                    .containsEntry("messaging.operation.type", "send")
                    .containsEntry("messaging.destination.name", rig.topic())
                    .containsEntry("messaging.client.id", "twinbox-relay-relay-sender")
                    .containsEntry("messaging.kafka.message.key", "key")
                    .containsEntry("cloudevents.event_type", "test.happened")
                    .containsKeys("messaging.destination.partition.id", "messaging.kafka.offset");

            RelayRig.KAFKA.createTopic(late, 1); // The event was parked, and now it is sent.
            ToldSpan retried = awaitSpan(collector, parked);
            assertThat(retried.trace()).isEqualTo(TRACE);
            assertThat(retried.parent()).isEqualTo(CREATE);

            ConsumerRecord<byte[], byte[]> record = rig.records().stream()
                    .filter(each -> RelayRig.id(each).equals(sampled.toString()))
                    .findFirst()
                    .orElseThrow();
            assertThat(header(record, "traceparent")).isEqualTo(SAMPLED);
            assertThat(header(record, "tracestate")).isEqualTo("vendor=1");
            assertThat(relay.terminate()).isZero(); // It has exported all spans by now.
            assertThat(collector.spans()).hasSize(2);
        }
    }

    @Test
    void switchedOffItSendsByTheProducerOfKafkaItselfAndReadsNoSettings() {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", "127.0.0.1:1",
                "key.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer",
                "value.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer");
        for (Map<String, String> off : List.of(
                Map.<String, String>of(),
                Map.of("otel.traces.exporter", "nonsense"),
                Map.of("otel.sdk.disabled", "true"))) {
            try (Tracing tracing = Tracing.of(new RelayConfig.Telemetry(off));
                    KafkaProducer<byte[], byte[]> producer = tracing.producer(settings)) {
                assertThat(producer.getClass()).isEqualTo(KafkaProducer.class);
            }
        }
    }

    @Test
    void settingsThatOpenTelemetryRefusesRefuseTheStart() {
        RelayConfig.Telemetry wrong =
                new RelayConfig.Telemetry(Map.of("otel.sdk.disabled", "false", "otel.traces.exporter", "nonsense"));

        assertThatThrownBy(() -> Tracing.of(wrong))
                .isInstanceOfSatisfying(
                        RelayException.class, e -> assertThat(e.exitCode()).isEqualTo(ExitCode.USAGE))
                .hasMessageContaining("otel.*, OTEL_*")
                .hasMessageContaining("nonsense");
    }

    private static ToldSpan awaitSpan(OtlpReceiver collector, UUID id) {
        return await("span of " + id)
                .atMost(LIMIT)
                .until(
                        () -> collector.spans().stream()
                                .filter(span ->
                                        id.toString().equals(span.attributes().get("messaging.message.id")))
                                .toList(),
                        spans -> spans.size() == 1)
                .get(0);
    }

    private static UUID insert(Connection connection, String topic, String... headers) throws SQLException {
        UUID id = UUID.randomUUID();
        try (PreparedStatement insert = connection.prepareStatement("insert into outbox_event"
                + " (id, topic, key, type, source, occurred_at, content_type, headers, payload)"
                + " values (?, ?, 'key', 'test.happened', '/test', clock_timestamp(), 'text/plain', ?, ?)")) {
            insert.setObject(1, id);
            insert.setString(2, topic);
            insert.setArray(3, headers.length == 0 ? null : connection.createArrayOf("text", headers));
            insert.setBytes(4, id.toString().getBytes(StandardCharsets.UTF_8));
            insert.executeUpdate();
        }
        return id;
    }

    private static String header(ConsumerRecord<byte[], byte[]> record, String name) {
        Header header = record.headers().lastHeader(name);
        return header == null ? null : new String(header.value(), StandardCharsets.UTF_8);
    }
}
