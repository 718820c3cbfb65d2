package dev.twinbox.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.json.bind.JsonbBuilder;
import jakarta.json.bind.JsonbException;
import jakarta.json.bind.annotation.JsonbCreator;
import jakarta.json.bind.annotation.JsonbProperty;
import jakarta.json.bind.annotation.JsonbTypeInfo;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A record that is not public, and other classes that JSON-B cannot create or fill: each event of them was dead. */
class Fault27UnreadableClassTest {

    record Hidden(String id) {}

    static class HiddenCreated {
        private final String id;

        @JsonbCreator
        public HiddenCreated(@JsonbProperty("id") String id) {
            this.id = id;
        }
    }

    static class HiddenBean {
        private String id;

        public HiddenBean() {}

        public void setId(String id) {
            this.id = id;
        }
    }

    public record Outer(List<Hidden> hidden) {}

    public static class WithoutConstructor {
        private String id;

        public WithoutConstructor(String id) {
            this.id = id;
        }

        public String getId() {
            return id;
        }

        public void setId(String id) {
            this.id = id;
        }
    }

    public static class WithoutSetter {
        private String id;

        public String getId() {
            return id;
        }
    }

    public class Inner {
        public String id;
    }

    public interface Animal {}

    @JsonbTypeInfo
    public interface Plant {}

    public static class Right {
        private String id;
        private final List<String> done = List.of();

        protected Right() {}

        public void setId(String id) {
            this.id = id;
        }
    }

    public static class Created {
        private final String id;

        @JsonbCreator
        public Created(@JsonbProperty("id") String id) {
            this.id = id;
        }
    }

    private final JsonbSerializer serializer = new JsonbSerializer();

    /** Johnzon can read it. It is refused all the same. */
    @Test
    @Tag("yasson")
    void aRecordThatIsNotPublicIsRefused() {
        assertThat(JsonEvents.readingProblems(Hidden.class))
                .containsExactly("record " + Hidden.class.getTypeName()
                        + " is not public, so JSON-B cannot create one: make it public");
        assertThat(JsonEvents.readingProblems(Outer.class)).hasSize(1);
        assertUnreadable("{\"id\":\"1\"}", Hidden.class);
        assertThat(JsonEvents.readingProblems(HiddenCreated.class)).hasSize(1);
        assertUnreadable("{\"id\":\"1\"}", HiddenCreated.class);
        assertUnreadable("{\"hidden\":[{\"id\":\"1\"}]}", Outer.class);
    }

    /** Johnzon can read and write it. It is refused all the same. */
    @Test
    @Tag("yasson")
    void aClassThatIsNotPublicIsRefusedByTheProducerToo() {
        assertThat(JsonEvents.readingProblems(HiddenBean.class)).hasSize(1);
        assertUnreadable("{\"id\":\"1\"}", HiddenBean.class);
        assertThat(JsonEvents.writingProblems(Hidden.class))
                .containsExactly("record " + Hidden.class.getTypeName()
                        + " is not public, so JSON-B cannot read its properties: make it public");
        assertThatThrownBy(() -> JsonbBuilder.create().toJson(new Hidden("1"))).isInstanceOf(JsonbException.class);
    }

    @Test
    void aClassThatJsonBCannotCreateIsRefused() {
        assertThat(JsonEvents.readingProblems(WithoutConstructor.class))
                .singleElement()
                .asString()
                .contains("constructor");
        assertThat(JsonEvents.readingProblems(Inner.class))
                .singleElement()
                .asString()
                .contains("make it static");
        assertThat(JsonEvents.readingProblems(Animal.class))
                .singleElement()
                .asString()
                .contains("is abstract");
        assertUnreadable("{\"id\":\"1\"}", WithoutConstructor.class);
        assertUnreadable("{\"id\":\"1\"}", Inner.class);
        assertUnreadable("{\"id\":\"1\"}", Animal.class);
    }

    @Test
    void aFieldThatJsonBWouldNeverSetIsRefused() {
        assertThat(JsonEvents.readingProblems(WithoutSetter.class))
                .containsExactly("field id of " + WithoutSetter.class.getTypeName() + " has no setter, so JSON-B would"
                        + " never set it: add a public setter setId(...), use a record, or mark the field transient");
        assertThat(read("{\"id\":\"1\"}", WithoutSetter.class).getId()).isNull();
    }

    @Test
    void whatJsonBReadsIsNotRefused() {
        assertThat(JsonEvents.readingProblems(Right.class)).isEmpty();
        assertThat(JsonEvents.readingProblems(Created.class)).isEmpty();
        assertThat(JsonEvents.readingProblems(Plant.class)).isEmpty();
        assertThat(JsonEvents.readingProblems(Fault26StrictReadingTest.Order.class))
                .isEmpty();
        assertThat(JsonEvents.readingProblems(jakarta.json.JsonObject.class)).isEmpty();
        assertThat(read("{\"id\":\"1\"}", Right.class).id).isEqualTo("1");
        assertThat(read("{\"id\":\"1\"}", Created.class).id).isEqualTo("1");
    }

    private void assertUnreadable(String json, Class<?> type) {
        assertThatThrownBy(() -> read(json, type)).isInstanceOf(RuntimeException.class);
    }

    private <T> T read(String json, Class<T> type) {
        return serializer.deserialize(json.getBytes(StandardCharsets.UTF_8), type);
    }
}
