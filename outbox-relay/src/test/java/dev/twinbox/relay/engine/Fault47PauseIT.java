package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.ParkedSelections;
import dev.twinbox.relay.jdbc.ParkedState;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The pause after a failed retry was common to all parked events and doubled with each failure. So one event that was
 * refused again and again held up all others. A pause belongs to what has failed.
 */
@Tag("proof")
class Fault47PauseIT {
    private static final Duration SHORT = Duration.ofSeconds(6);

    @Test
    void anEventThatIsRefusedAgainAndAgainDelaysNoOther() throws Exception {
        AtomicBoolean cured = new AtomicBoolean();
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect();
                BrokenProducer broken = new BrokenProducer(
                        BrokenProducer.Fault.REFUSAL,
                        record -> hasKey(record, "bad") || (hasKey(record, "good") && !cured.get()))) {
            rig.between = broken;
            rig.insert(connection, "bad", "bad");
            rig.insert(connection, "good", "good");
            rig.start();
            rig.awaitParked(ParkedState.REFUSED, 2);
            for (int attempts = 2; attempts <= 6; attempts++) {
                int expected = attempts;
                rig.parked(connection).retry(ParkedSelections.key(rig.topic, "bad"));
                await("attempt " + attempts)
                        .atMost(Duration.ofMinutes(1))
                        .until(() -> rig.number("select max(attempts) from outbox_parked") == expected);
            }
            cured.set(true);
            rig.parked(connection).retry(ParkedSelections.key(rig.topic, "good"));

            await("the other event")
                    .atMost(SHORT)
                    .until(() -> rig.payloadsOf("good").size() == 1);
            assertThat(rig.parkedIn(ParkedState.REFUSED)).isOne();
        }
    }

    @Test
    void anEventThatFailsAgainAndAgainDelaysNoOtherThatWaitsForTheSameTopic() throws Exception {
        AtomicBoolean cured = new AtomicBoolean();
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect();
                BrokenProducer broken = new BrokenProducer(
                        BrokenProducer.Fault.FAILURE,
                        record -> hasKey(record, "bad") || (hasKey(record, "good") && !cured.get()))) {
            rig.between = broken;
            rig.insert(connection, "bad", "bad");
            rig.insert(connection, "good", "good");
            rig.start();
            rig.awaitParked(ParkedState.WAITING, 2);
            cured.set(true);

            await("the other event")
                    .atMost(SHORT)
                    .until(() -> rig.payloadsOf("good").size() == 1);
            await("the other event's row is deleted, and only that one")
                    .until(() -> rig.parkedIn(ParkedState.WAITING) + rig.parkedIn(ParkedState.SENDING) == 1);
            broken.mend();
            rig.awaitNothingParked();
            assertThat(rig.payloadsOf("bad")).containsExactly("bad");
        }
    }

    private static boolean hasKey(ProducerRecord<byte[], byte[]> record, String key) {
        return record.key() != null && key.equals(new String(record.key(), StandardCharsets.UTF_8));
    }
}
