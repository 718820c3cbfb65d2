package dev.twinbox.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.InvalidEventException;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/**
 * The key property is of an interface type. An object behind it that prints as {@code Name@1b2c3d} gave each event another
 * key, and so no order.
 */
class Fault64KeyWithoutTextTest {

    interface OrderId {
        long value();
    }

    private static final class WithoutText implements OrderId {
        @Override
        public long value() {
            return 42;
        }
    }

    private record WithText(long value) implements OrderId {}

    enum Fixed implements OrderId {
        ONE {
            @Override
            public long value() {
                return 1;
            }
        }
    }

    record Placed(OrderId id, Comparable<?> other, Iterable<String> parts) {}

    private static String key(String property, Placed event) {
        return KeyProperty.of(Placed.class, property).read(event);
    }

    @Test
    void aValueWithoutATextIsRefusedWithTheRemedy() {
        assertThatThrownBy(() -> key("id", new Placed(new WithoutText(), 1, List.of())))
                .isInstanceOf(InvalidEventException.class)
                .hasMessageContainingAll(WithoutText.class.getTypeName(), "toString()");
        assertThatThrownBy(() -> key("id", new Placed(() -> 42, 1, List.of())))
                .isInstanceOf(InvalidEventException.class);
    }

    @Test
    void aContainerIsRefusedWhateverTheTypeOfTheProperty() {
        assertThatThrownBy(() -> key("parts", new Placed(new WithText(42), 1, List.of("a"))))
                .isInstanceOf(InvalidEventException.class)
                .hasMessageContaining("whose text is no key");
    }

    @Test
    void aValueWithATextIsAKey() {
        UUID id = UUID.randomUUID();
        Placed event = new Placed(new WithText(42), id, List.of());
        assertThat(key("id", event)).isEqualTo("WithText[value=42]");
        assertThat(key("other", event)).isEqualTo(id.toString());
        assertThat(key("id", new Placed(Fixed.ONE, "text", List.of()))).isEqualTo("ONE");
    }
}
