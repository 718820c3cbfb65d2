package dev.twinbox.proof.bench;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.ByteArrayInputStream;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class WorkloadTest {

    private final Workload workload = new Workload(20_000, 100, 1_000);

    @Test
    void everyEventHasAnIdOfItsOwnFromWhichItsNumberComesBack() {
        Set<UUID> ids = new HashSet<>();
        for (int number = 0; number < workload.events(); number++) {
            UUID id = workload.id(number);
            assertThat(id.version()).isEqualTo(7);
            assertThat(id.variant()).isEqualTo(2);
            assertThat(workload.numberOf(id)).isEqualTo(number);
            ids.add(id);
        }
        assertThat(ids).hasSize(workload.events());
    }

    @Test
    void idsOfOtherEventsHaveNoNumber() {
        assertThat(workload.numberOf(new Workload(10, 100, 0).id(0))).isEqualTo(-1);
        assertThat(workload.numberOf(new Workload(30_000, 100, 1_000).id(20_000)))
                .isEqualTo(-1);
        UUID id = workload.id(7);
        assertThat(workload.numberOf(new UUID(id.getMostSignificantBits(), id.getLeastSignificantBits() + 1)))
                .isEqualTo(-1);
    }

    @Test
    void payloadsAreJsonOfTheSizeThatTheFiguresName() {
        for (int number = 0; number < workload.events(); number += 997) {
            byte[] payload = workload.payload(number);
            assertThat(payload).hasSize(Workload.PAYLOAD_BYTES);
            JsonObject json =
                    Json.createReader(new ByteArrayInputStream(payload)).readObject();
            assertThat(json.getJsonNumber("orderId").longValue()).isEqualTo(workload.orderId(number));
        }
    }

    @Test
    void allKeysAreUsed() {
        Set<String> keys = new HashSet<>();
        for (int number = 0; number < workload.events(); number++) {
            keys.add(workload.key(number));
        }
        assertThat(keys).hasSize(100);
    }

    @Test
    void allEventsHaveTheSameSizeOnKafkaUpToTheLengthOfTheirKey() {
        for (int number = 0; number < workload.events(); number += 997) {
            int keyTwice = 2 * workload.key(number).length();
            assertThat(EventRecord.of(workload, number).bytes() - keyTwice)
                    .isEqualTo(EventRecord.of(workload, 0).bytes()
                            - 2 * workload.key(0).length());
        }
    }
}
