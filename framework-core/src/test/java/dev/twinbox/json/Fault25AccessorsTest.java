package dev.twinbox.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.TwinboxException;
import jakarta.json.bind.annotation.JsonbTransient;
import jakarta.json.bind.annotation.JsonbTypeSerializer;
import jakarta.json.bind.serializer.SerializationContext;
import jakarta.json.stream.JsonGenerator;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * JSON-B writes no property for an accessor like {@code orderId()} of a class. So the payload of such an event was
 * <code>{}</code>, without a word.
 */
class Fault25AccessorsTest {

    /** Written like a record, but it is a class. */
    public static final class Placed {
        private final long orderId;
        private final BigDecimal amount;

        public Placed(long orderId, BigDecimal amount) {
            this.orderId = orderId;
            this.amount = amount;
        }

        public long orderId() {
            return orderId;
        }

        public BigDecimal amount() {
            return amount;
        }
    }

    public record Holder(String id, Optional<Placed> one, List<Placed> many, Map<String, Placed[]> named) {}

    public static class Base<T> {
        private T value;

        public T getValue() {
            return value;
        }
    }

    public static class OfBase extends Base<Placed> {}

    @SuppressWarnings("unused")
    public static class Fine {
        private static final String CONSTANT = "c";
        public String direct = "d";
        private final String id = "i";
        private final boolean isOpen = true;
        private final boolean ready = true;
        private final transient String cache = "x";

        @JsonbTransient
        private final String leftOut = "l";

        private final String alsoLeftOut = "l";
        private Fine next;

        public String getId() {
            return id;
        }

        public boolean isOpen() {
            return isOpen;
        }

        public boolean isReady() {
            return ready;
        }

        @JsonbTransient
        public String getAlsoLeftOut() {
            return alsoLeftOut;
        }

        public Fine getNext() {
            return next;
        }
    }

    @JsonbTypeSerializer(Serialized.Serializer.class)
    public static class Serialized {
        private final String hidden = "h";

        /** Writes what JSON-B alone would not see. */
        public static class Serializer implements jakarta.json.bind.serializer.JsonbSerializer<Serialized> {
            @Override
            public void serialize(Serialized event, JsonGenerator json, SerializationContext context) {
                json.write(event.hidden);
            }
        }
    }

    private final JsonbSerializer serializer = new JsonbSerializer();

    @Test
    void aFieldWithoutAPropertyIsRefusedWithClassFieldAndRemedy() {
        assertThat(JsonEvents.writingProblems(Placed.class))
                .containsExactly(
                        "field amount of " + Placed.class.getTypeName()
                                + " has no JSON-B property, so it would be missing"
                                + " from the payload: add a public getter getAmount(), use a record, or mark the field"
                                + " transient",
                        "field orderId of " + Placed.class.getTypeName()
                                + " has no JSON-B property, so it would be missing"
                                + " from the payload: add a public getter getOrderId(), use a record, or mark the field"
                                + " transient");
        assertThat(JsonEvents.keyProblem(Placed.class, "orderId")).contains("key property \"orderId\"");
    }

    @Test
    void aClassInsideOfAnEventIsLookedAtToo() {
        assertThat(JsonEvents.writingProblems(Holder.class)).hasSize(2);
        assertThat(JsonEvents.writingProblems(OfBase.class)).hasSize(2);
    }

    @Test
    void whatIsPublishedByHandIsRefusedAtTheCall() {
        assertThatThrownBy(() -> serializer.serialize(new Placed(1, BigDecimal.ONE)))
                .isInstanceOf(TwinboxException.class)
                .hasMessageContaining("field orderId of " + Placed.class.getTypeName());
    }

    /** Johnzon cannot write an event that its serializer turns into a text, and says so. */
    @Test
    @Tag("yasson")
    void whatJsonBWritesIsNotRefused() {
        assertThat(JsonEvents.writingProblems(Fine.class)).isEmpty();
        assertThat(JsonEvents.writingProblems(Serialized.class)).isEmpty();
        assertThat(JsonEvents.writingProblems(String.class)).isEmpty();
        assertThat(JsonEvents.keyProblem(Fine.class, "id")).isNull();
        assertThat(JsonEvents.keyProblem(Holder.class, "id")).isNull();
        assertThat(JsonEvents.keyProblem(Fine.class, "leftOut")).isNotNull();
        assertThat(new String(serializer.serialize(new Fine()), StandardCharsets.UTF_8))
                .isEqualTo("{\"direct\":\"d\",\"id\":\"i\",\"open\":true,\"ready\":true}");
        assertThat(new String(serializer.serialize(new Serialized()), StandardCharsets.UTF_8))
                .isEqualTo("\"h\"");
    }
}
