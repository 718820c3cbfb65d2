package dev.twinbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** {@code OutboxEvent.of(null)} was a tombstone without a word: on a compacted topic it deletes the key. */
class Fault49NullPayloadTest {

    @Test
    void aNullPayloadIsRefusedAndTheTombstoneIsNamed() {
        assertThatThrownBy(() -> OutboxEvent.of(null))
                .isInstanceOf(InvalidEventException.class)
                .hasMessageContaining("OutboxEvent.tombstone(topic, key, type)");
        assertThat(OutboxEvent.tombstone("orders", "1", "order.gone").payload()).isNull();
    }
}
