package dev.twinbox.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class JsonbSerializerTest {

    public record Line(String article, int pieces) {}

    public enum State {
        OPEN
    }

    public record Order(
            long id,
            UUID code,
            BigDecimal total,
            Instant at,
            State state,
            List<Line> lines,
            Map<String, Integer> counts) {}

    private final JsonbSerializer serializer = new JsonbSerializer();

    @Test
    void aRecordComesBackAsItWent() {
        Order order = new Order(
                Long.MAX_VALUE,
                UUID.randomUUID(),
                new BigDecimal("0.10"),
                Instant.parse("2026-11-29T12:00:00.123456789Z"),
                State.OPEN,
                List.of(new Line("é € 😀 \u2028 \"\\u0000\"", 3)),
                Map.of("a", 1));

        assertThat(serializer.deserialize(serializer.serialize(order), Order.class))
                .isEqualTo(order);
    }

    @Test
    void textWithControlCharactersComesBackByteForByte() {
        Line line = new Line("a\0b\u0001\n", 1);

        assertThat(new String(serializer.serialize(line), StandardCharsets.UTF_8))
                .contains("\\u0000");
        assertThat(serializer.deserialize(serializer.serialize(line), Line.class))
                .isEqualTo(line);
    }

    @Test
    void aLoneSurrogateIsAnErrorAndNoQuestionMark() {
        assertThatThrownBy(() -> serializer.serialize(new Line("\ud83d", 1))).hasMessageContaining("lone surrogate");
    }

    @Test
    void whatIsNotUtf8IsAnErrorAndNoReplacementCharacter() {
        byte[] latin1 = "{\"article\":\"é\",\"pieces\":1}".getBytes(StandardCharsets.ISO_8859_1);
        Line replaced = new Line("\uFFFD", 1);

        assertThatThrownBy(() -> serializer.deserialize(latin1, Line.class)).hasMessage("its JSON is not UTF-8");
        assertThat(serializer.deserialize(serializer.serialize(replaced), Line.class))
                .as("written by somebody else")
                .isEqualTo(replaced);
    }

    @Test
    void anUnknownFieldIsPassedOver() {
        byte[] data = "{\"article\":\"x\",\"pieces\":1,\"added\":{\"later\":true}}".getBytes(StandardCharsets.UTF_8);

        assertThat(serializer.deserialize(data, Line.class)).isEqualTo(new Line("x", 1));
    }
}
