package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.CloudEventHeaders;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Scenario 45, DESER-POISON: a record that cannot be read is parked with all its parts, and the consumer goes on. */
@Tag("proof")
class Scenario45DeserPoisonIT {

    @BeforeEach
    void clean() {
        ParkingApp.clean();
    }

    @Test
    void eachBadRecordIsOneParkedEventWithAllItHad() {
        List<ProducerRecord<byte[], byte[]>> bad = new ArrayList<>();
        bad.add(record("order", Topics.id(), "{\"id\":"));
        bad.add(record("order", Topics.id(), ""));
        bad.add(record("order", Topics.id(), "[".repeat(10_000)));
        bad.add(new ProducerRecord<>(ParkingApp.APP, 0, null, new byte[] {-1, -2, 0}));
        bad.add(record(null, Topics.id(), "{}"));
        bad.add(record("order", null, "{}"));
        bad.add(record("order", "x".repeat(10_000), "{}"));
        ProducerRecord<byte[], byte[]> nullHeader = record("order", null, "{}");
        nullHeader
                .headers()
                .add(CloudEventHeaders.ID, null)
                .add("twice", Topics.bytes("1"))
                .add("twice", null);
        bad.add(nullHeader);
        ProducerRecord<byte[], byte[]> noUtf8 = record(null, Topics.id(), "{}");
        noUtf8.headers().add(CloudEventHeaders.TYPE, new byte[] {-61});
        bad.add(noUtf8);
        String[] good = ParkingApp.ids(100);
        for (int i = 0; i < good.length; i++) {
            if (i % 10 == 5 && i / 10 < bad.size()) {
                ParkingApp.topics().send(bad.get(i / 10));
            }
            ParkingApp.topics().add(ParkingApp.APP, "poison-" + i, good[i], "", 0);
        }
        String plain = Topics.id();
        ParkingApp.topics().send(record("plain", plain, "{\"id\":\"" + plain + "\"}"));
        ParkingApp.topics().flush();
        ParkingApp.awaitLagZero();

        assertThat(ParkingApp.effects()).contains(good);
        assertThat(ParkingApp.database().effects("plain"))
                .as("a record without annotations is read")
                .containsExactly(plain);
        // A value that cannot be read is parked once for each handler. A record without id or type is parked once.
        assertThat(ParkingApp.database()
                        .texts("select state || ' ' || coalesce(handler, 'nobody') || ' ' || error "
                                + "from inbox_parked order by number"))
                .allMatch(text -> text.startsWith("dead "))
                .hasSize(3 * 2 + 6)
                .anyMatch(text -> text.contains("dead parking") && text.contains("cannot be read as dev.twinbox"))
                .anyMatch(text -> text.contains("dead nobody") && text.contains("header ce_id has more than 512 bytes"))
                .anyMatch(text -> text.contains("dead nobody") && text.contains("header ce_id is missing"))
                .anyMatch(text -> text.contains("dead nobody") && text.contains("header ce_id is empty"))
                .anyMatch(text -> text.contains("dead nobody") && text.contains("header ce_type is missing"))
                .anyMatch(text -> text.contains("dead nobody") && text.contains("header ce_type is not UTF-8"));
        assertThat(ParkingApp.database()
                        .count("inbox_parked where record_value = '\\xfffe00' and topic = 'parking' "
                                + "and partition = 0 and record_offset > 0"))
                .isEqualTo(1);
        assertThat(ParkingApp.database()
                        .texts("select array_to_string(header_values, ',', 'null') from inbox_parked "
                                + "where convert_to('twice', 'UTF8') = any (header_names)"))
                .singleElement()
                .satisfies(values -> assertThat(values).endsWith("null,\\x31,null"));
    }

    private static ProducerRecord<byte[], byte[]> record(@Nullable String type, @Nullable String id, String value) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(ParkingApp.APP, 0, null, value.getBytes(StandardCharsets.UTF_8));
        if (type != null) {
            record.headers().add(CloudEventHeaders.TYPE, Topics.bytes(type));
        }
        if (id != null) {
            record.headers().add(CloudEventHeaders.ID, Topics.bytes(id));
        }
        return record;
    }
}
