package dev.twinbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Fault 45: an event type of 513 bytes was accepted by the outbox and the relay, and was dead at the inbox. */
class Fault45TypeLimitTest {

    @Test
    void theLongestTypeIsTaken() {
        String longest = "ä".repeat(256);

        assertThat(OutboxEvent.of(1).withType(longest).type()).isEqualTo(longest);
        assertThat(TypeName.fits(longest)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "ä"})
    void aLongerOneIsRefusedAtTheCall(String letter) {
        String type = letter.repeat(512 / letter.getBytes(java.nio.charset.StandardCharsets.UTF_8).length) + "x";

        assertThatThrownBy(() -> OutboxEvent.of(1).withType(type))
                .isInstanceOf(InvalidEventException.class)
                .hasMessage(
                        "type \"" + letter.repeat(60) + "…\" has 513 bytes, allowed are 512: choose a shorter name");
        assertThatThrownBy(() -> OutboxEvent.tombstone("topic", "key", type)).isInstanceOf(InvalidEventException.class);
    }
}
