package dev.twinbox.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.twinbox.EventReading;
import dev.twinbox.TwinboxException;
import jakarta.json.bind.annotation.JsonbCreator;
import jakarta.json.bind.annotation.JsonbNumberFormat;
import jakarta.json.bind.annotation.JsonbProperty;
import jakarta.json.bind.annotation.JsonbTransient;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * JSON-B leaves an absent primitive at 0 and cuts a number that is too large. So an event with {@code order_id} instead
 * of {@code orderId} was handled as order 0, and 3000000000 as −1294967296.
 */
class Fault26StrictReadingTest {

    public record Line(String article, int pieces) {}

    public record Order(
            long orderId,
            int amount,
            String note,
            Integer boxed,
            Optional<String> maybe,
            OptionalInt count,
            List<Line> lines,
            Map<String, Short> stock,
            boolean paid,
            char grade,
            double weight) {}

    private static final String RIGHT = """
            {"orderId":5,"amount":7,"paid":true,"grade":"a","weight":1.5,"unknown":{"deep":[1,{}]},"more":[[]]}""";

    @SuppressWarnings("unused")
    public static class Bean {
        private int pieces;
        private Line line;
        public long direct;

        @JsonbTransient
        private int leftOut;

        private int formatted;

        public void setPieces(int pieces) {
            this.pieces = pieces;
        }

        public void setLine(Line line) {
            this.line = line;
        }

        public void setLeftOut(int leftOut) {
            this.leftOut = leftOut;
        }

        @JsonbNumberFormat("#,##0")
        public void setFormatted(int formatted) {
            this.formatted = formatted;
        }
    }

    public static class Created {
        final int pieces;

        @JsonbCreator
        public Created(@JsonbProperty("stück") int pieces) {
            this.pieces = pieces;
        }
    }

    public record Generic<T>(T value, Generic<T> next) {}

    public record OfGeneric(Generic<Line> lines) {}

    public record Renamed(@JsonbProperty("order_id") long orderId) {}

    public record Big(BigInteger number) {}

    public record Texts(String a, List<String> b) {}

    private final JsonbSerializer serializer = new JsonbSerializer();

    @ParameterizedTest
    @ValueSource(strings = {"[", "[[1,", "{\"unknown\":[", "{\"unknown\":{\"a\":1", "{\"lines\":[{", "{\"orderId\":"})
    void aTextThatIsCutOffIsRefusedAtOnce(String json) {
        assertTimeoutPreemptively(
                Duration.ofSeconds(10),
                () -> assertThatThrownBy(() ->
                                new JsonbSerializer().deserialize(json.getBytes(StandardCharsets.UTF_8), Order.class))
                        .isInstanceOf(RuntimeException.class));
        assertTimeoutPreemptively(
                Duration.ofSeconds(10),
                () -> assertThatThrownBy(() -> new JsonbSerializer()
                                .deserialize(json.getBytes(StandardCharsets.UTF_8), Order.class, EventReading.LENIENT))
                        .isInstanceOf(RuntimeException.class));
    }

    @Test
    void unknownMembersAreIgnoredAndAbsentReferencesAreNull() {
        Order order = read(RIGHT, Order.class);

        assertThat(order)
                .isEqualTo(
                        new Order(5, 7, null, null, Optional.empty(), OptionalInt.empty(), null, null, true, 'a', 1.5));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "\"orderId\":5|\"order_id\":5|member orderId is missing",
                "\"orderId\":5|\"orderId\":null|member orderId is null",
                "\"amount\":7,||member amount is missing",
                "\"amount\":7|\"amount\":3000000000|member amount is 3000000000, and its type holds whole numbers from"
                        + " -2147483648 to 2147483647",
                "\"amount\":7|\"amount\":7.5|member amount is 7.5, and its type holds whole numbers",
                "\"amount\":7|\"amount\":1e999999999|member amount is 1E+999999999",
                "\"orderId\":5|\"orderId\":9223372036854775808|member orderId is 9223372036854775808",
                "\"more\":[[]]|\"boxed\":-2147483649|member boxed is -2147483649",
                "\"more\":[[]]|\"count\":2147483648|member count is 2147483648",
                "\"more\":[[]]|\"lines\":[{\"pieces\":1},{\"piece\":2}]|member lines[1].pieces is missing",
                "\"more\":[[]]|\"lines\":[{\"pieces\":1e10}]|member lines[0].pieces is 1E+10",
                "\"more\":[[]]|\"stock\":{\"a\":1,\"b\":40000}|member stock.b is 40000",
                "\"weight\":1.5|\"weight\":1e400|member weight is 1E+400, which is too large for its type",
                "\"paid\":true|\"paid\":\"yes\"|member paid is a text, and its type holds true or false",
                "\"grade\":\"a\"|\"grade\":\"ab\"|member grade is a text of 2 characters, and its type holds one",
            })
    void whatItsTypeCannotHoldIsUnreadableAndTheMemberIsNamed(String right, String wrong, String problem) {
        String json = RIGHT.replace(right, wrong == null ? "" : wrong);

        assertThatThrownBy(() -> read(json, Order.class))
                .isInstanceOf(TwinboxException.class)
                .hasMessageStartingWith(problem)
                .hasMessageContaining("reading = LENIENT");
    }

    /** Johnzon cannot read a formatted number into an int, and says so. */
    @Test
    @Tag("yasson")
    void aClassWithSettersOrACreatorIsComparedLikeARecord() {
        assertThatCode(() -> read("{\"pieces\":1,\"direct\":2,\"formatted\":\"1,000\"}", Bean.class))
                .doesNotThrowAnyException();
        assertMissing("{\"direct\":2,\"formatted\":\"1\"}", Bean.class, "pieces");
        assertMissing("{\"pieces\":2,\"formatted\":\"1\"}", Bean.class, "direct");
        assertMissing("{\"pieces\":2,\"direct\":2}", Bean.class, "formatted");
        assertMissing("{\"pieces\":1,\"direct\":2,\"formatted\":\"1\",\"line\":{}}", Bean.class, "line.pieces");
        assertThat(read("{\"stück\":3}", Created.class).pieces).isEqualTo(3);
        assertMissing("{\"pieces\":3}", Created.class, "stück");
        assertThat(read("{\"order_id\":3}", Renamed.class).orderId()).isEqualTo(3);
        assertMissing("{\"orderId\":3}", Renamed.class, "order_id");
    }

    /** Johnzon cannot read a generic class, and says so. */
    @Test
    @Tag("yasson")
    void aGenericClassIsComparedWithWhatItStandsFor() {
        assertThat(read("{\"lines\":{\"value\":{\"pieces\":1},\"next\":{}}}", OfGeneric.class)
                        .lines()
                        .value()
                        .pieces())
                .isEqualTo(1);
        assertMissing("{\"lines\":{\"next\":{\"value\":{}}}}", OfGeneric.class, "lines.next.value.pieces");
    }

    @Test
    void aWholeNumberMayBeWrittenInAnyWay() {
        String json = RIGHT.replace("\"orderId\":5", "\"orderId\":-9223372036854775808");

        assertThat(read(json, Order.class).orderId()).isEqualTo(Long.MIN_VALUE);
        assertThat(read("{\"number\":123456789012345678901234567890}", Big.class)
                        .number())
                .isEqualTo(new BigInteger("123456789012345678901234567890"));
        assertThatThrownBy(() -> read("{\"number\":1.5}", Big.class)).hasMessageStartingWith("member number is 1.5");
    }

    @Test
    void aHandlerCanOptOut() {
        byte[] absent = "{\"order_id\":5}".getBytes(StandardCharsets.UTF_8);

        assertThat(serializer
                        .deserialize(absent, Order.class, EventReading.LENIENT)
                        .orderId())
                .isZero();
    }

    @Test
    void whatIsMalformedIsRefusedAndAnotherKindOfValueIsLeftToJsonB() {
        for (String json : List.of("{\"orderId\":", "{\"a\":{}")) {
            assertThatThrownBy(() -> read(json, Order.class))
                    .isInstanceOf(TwinboxException.class)
                    .hasMessageContaining("malformed");
        }
        for (String json : List.of("[]", "\"text\"")) {
            assertThatThrownBy(() -> read(json, Order.class)).isNotInstanceOf(TwinboxException.class);
        }
        assertThatThrownBy(() -> read("", Order.class)).isInstanceOf(RuntimeException.class);
        assertThat(read("{\"a\":\"x\"}", Texts.class)).isEqualTo(new Texts("x", null));
    }

    private void assertMissing(String json, Class<?> type, String member) {
        assertThatThrownBy(() -> read(json, type)).hasMessageStartingWith("member " + member + " is missing");
    }

    private <T> T read(String json, Class<T> type) {
        return serializer.deserialize(json.getBytes(StandardCharsets.UTF_8), type);
    }
}
