package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.config.ExitCode;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * NUL: what an outbox accepts is sent byte for byte. What it does not accept is refused at the call, see
 * OutboxEventTest.
 */
@Tag("proof")
class Scenario30NulIT {
    private static final String TEXT = "emoji \uD83D\uDE00, rtl \u0627\u0644\u0639, combining e\u0301, line \u2028, "
            + "literal \\u0000, quotes ' \" \\ { } , NULL";
    private static final byte[] BYTES = {0, 1, (byte) 0xff, (byte) 0xfe, 0, (byte) 0xed, (byte) 0xa0, (byte) 0x80};

    @Test
    void oddTextInAttributesAndAnyPayloadBytesArriveUnchanged() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect();
                PreparedStatement insert = connection.prepareStatement("insert into outbox_event"
                        + " (id, topic, key, type, source, subject, occurred_at, content_type, headers, payload)"
                        + " values (?, ?, ?, ?, '/s', ?, now(), 'text/plain', ?, ?)")) {
            insert.setObject(1, UUID.randomUUID());
            insert.setString(2, rig.topic);
            insert.setString(3, TEXT);
            insert.setString(4, TEXT);
            insert.setString(5, TEXT);
            insert.setArray(6, connection.createArrayOf("text", new String[] {TEXT, TEXT, "empty", ""}));
            insert.setBytes(7, BYTES);
            insert.executeUpdate();
            EngineRig.Running relay = rig.start();
            rig.awaitRecords(1);
            ConsumerRecord<byte[], byte[]> record = rig.records().get(0);
            assertThat(record.value()).isEqualTo(BYTES);
            assertThat(text(record.key())).isEqualTo(TEXT);
            for (String header : new String[] {"ce_type", "ce_subject", "ce_partitionkey", TEXT}) {
                assertThat(text(record.headers().lastHeader(header).value()))
                        .as(header)
                        .isEqualTo(TEXT);
            }
            assertThat(record.headers().lastHeader("empty").value()).isEmpty();
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    private static String text(byte[] utf8) {
        return new String(utf8, StandardCharsets.UTF_8);
    }
}
