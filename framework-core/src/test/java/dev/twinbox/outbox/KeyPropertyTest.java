package dev.twinbox.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.InvalidEventException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class KeyPropertyTest {

    enum Region {
        EU {
            @Override
            public String toString() {
                return "Europe";
            }
        }
    }

    record OrderId(String prefix, long number) {
        @Override
        public String toString() {
            return prefix + number;
        }
    }

    private record Secret(UUID id) {}

    static class Parent {
        private final int inherited = 7;

        public String getName() {
            return "n";
        }

        public boolean isOpen() {
            return true;
        }
    }

    static class Child extends Parent {
        @SuppressWarnings("unused")
        private final String field = "f";
    }

    record Wrong(
            List<String> list,
            byte[] array,
            Map<String, String> map,
            Optional<String> optional,
            Object any,
            Thrower thrower) {}

    static final class Thrower {
        public String getKey() {
            throw new IllegalStateException("no");
        }
    }

    record Good(String text, long number, Region region, OrderId id, Integer nothing) {}

    @Test
    void aRecordComponentAGetterOrAFieldIsRead() {
        Good good = new Good("t", 42, Region.EU, new OrderId("A", 1), null);

        assertThat(KeyProperty.of(Good.class, "text").read(good)).isEqualTo("t");
        assertThat(KeyProperty.of(Good.class, "number").read(good)).isEqualTo("42");
        assertThat(KeyProperty.of(Good.class, "region").read(good)).isEqualTo("EU");
        assertThat(KeyProperty.of(Good.class, "id").read(good)).isEqualTo("A1");
        UUID id = UUID.randomUUID();
        assertThat(KeyProperty.of(Secret.class, "id").read(new Secret(id))).isEqualTo(id.toString());
        assertThat(KeyProperty.of(Child.class, "name").read(new Child())).isEqualTo("n");
        assertThat(KeyProperty.of(Child.class, "open").read(new Child())).isEqualTo("true");
        assertThat(KeyProperty.of(Child.class, "field").read(new Child())).isEqualTo("f");
        assertThat(KeyProperty.of(Child.class, "inherited").read(new Child())).isEqualTo("7");
    }

    @Test
    void aNullValueIsRefusedAndNamed() {
        assertThatThrownBy(() -> KeyProperty.of(Good.class, "nothing").read(new Good("", 0, null, null, null)))
                .isInstanceOf(InvalidEventException.class)
                .hasMessageContaining("key property \"nothing\" of " + Good.class.getTypeName() + " is null");
    }

    @Test
    void aPropertyThatDoesNotExistIsRefused() {
        for (String name : new String[] {"missing", "", "class", "hashCode", "toString"}) {
            assertThatThrownBy(() -> KeyProperty.of(Child.class, name))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("key property \"" + name + "\" does not exist");
        }
    }

    @Test
    void aTypeWhoseTextSaysNothingIsRefused() {
        for (String name : new String[] {"list", "array", "map", "optional", "any", "thrower"}) {
            assertThatThrownBy(() -> KeyProperty.of(Wrong.class, name))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("whose text is no key");
        }
    }

    @Test
    void aGetterThatThrowsIsNamed() {
        assertThatThrownBy(() -> KeyProperty.of(Thrower.class, "key").read(new Thrower()))
                .isInstanceOf(InvalidEventException.class)
                .hasMessageContaining("key property \"key\"")
                .hasRootCauseMessage("no");
    }
}
