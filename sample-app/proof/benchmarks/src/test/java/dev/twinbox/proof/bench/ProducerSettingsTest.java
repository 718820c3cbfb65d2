package dev.twinbox.proof.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ProducerSettingsTest {

    private static final String LOG = """
            started
            ProducerConfig values:\s
            \tacks = -1
            \tbatch.size = 131072
            \tbootstrap.servers = [127.0.0.1:9092]
            \tclient.id = relay
            \tlinger.ms = 5
            \tkey.serializer = class org.apache.kafka.common.serialization.ByteArraySerializer
            \tssl.protocol = TLSv1.3
            \ttransactional.id = null

            sent = 1
            """;

    @Test
    void singleValuedSettingsAreReadFromTheLog() {
        assertThat(ProducerSettings.in(LOG))
                .containsOnlyKeys("acks", "batch.size", "linger.ms")
                .containsEntry("acks", "all")
                .containsEntry("batch.size", "131072");
    }

    @Test
    void onlyChosenSettingsAreReported() {
        assertThat(ProducerSettings.chosen(ProducerSettings.in(LOG))).containsOnlyKeys("batch.size");
    }

    @Test
    void aLogWithoutSettingsIsNotGuessedAt() {
        assertThatThrownBy(() -> ProducerSettings.in("started\n"))
                .isInstanceOf(InvalidRunException.class)
                .hasMessageContaining("ProducerConfig values:");
    }
}
