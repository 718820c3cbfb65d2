package dev.twinbox.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * One mistake at a time: the message names key, value and remedy. Mistakes in events are tested by {@code
 * OutboxEventTest}.
 */
class BadInputTest {

    private static final Map<String, String> RIGHT =
            Map.of("twinbox.outbox.data-source", "java:app/jdbc/orders", "twinbox.outbox.source", "/orders");

    @ParameterizedTest(name = "{0} = {1}")
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            twinbox.outbox.data-source | ~~ | is missing
            twinbox.outbox.data-source | ~  ~ | must not be blank
            twinbox.outbox.source | ~~ | is missing
            twinbox.outbox.source | a b | URI-reference
            twinbox.outbox.source | %zz | URI-reference
            twinbox.outbox.schema | ~a234567890123456789012345678901234567890123456789012345678901234~ | 63
            twinbox.outbox.table | ~a234567890123456789012345678901234567890123456789012345678901234~ | 63
            twinbox.outbox.table | ~a23456789012345678901234567890123456789012345~ | _position_by_number
            twinbox.outbox.position-table | outbox_event | is unknown: it was dropped
            twinbox.outbox.lease-table | outbox_position | is unknown: it was dropped
            twinbox.outbox.max-payload-bytes | 0 | whole number from 1
            twinbox.outbox.max-payload-bytes | 1MB | whole number from 1
            twinbox.outbox.max-payload-bytes | 67108865 | must not exceed twinbox.outbox.max-bytes-per-transaction
            twinbox.outbox.max-events-per-transaction | -5 | whole number from 1
            twinbox.outbox.max-events-per-transaction | 1e3 | whole number from 1
            twinbox.outbox.max-bytes-per-transaction | 99999999999 | whole number from 1
            twinbox.outbox.max-bytes-per-transaction | 899999 | must not exceed twinbox.outbox.max-bytes-per-transaction
            twinbox.outbox.tabel | x | is unknown: did you mean twinbox.outbox.table?
            twinbox.outbox.datasource | java:x | is unknown: did you mean twinbox.outbox.data-source?
            """)
    void aWrongValueIsRefusedWithKeyValueAndRemedy(String key, String value, String expected) {
        Map<String, String> values = new HashMap<>(RIGHT);
        values.put(key, value);

        assertThat(problems(values)).singleElement().asString().contains(key, expected);
    }

    /** No bound is off by one. */
    @ParameterizedTest(name = "{0} = {1}")
    @CsvSource(delimiter = '|', textBlock = """
            twinbox.outbox.max-payload-bytes | 1 | 0
            twinbox.outbox.max-payload-bytes | 67108864 | 67108865
            twinbox.outbox.max-events-per-transaction | 1 | 0
            twinbox.outbox.max-events-per-transaction | 1000000 | 1000001
            twinbox.outbox.max-bytes-per-transaction | 900000 | 899999
            twinbox.outbox.max-bytes-per-transaction | 2147483647 | 2147483648
            """)
    void aValueAtItsBoundIsTakenAndOneBeyondItRefused(String key, String within, String beyond) {
        Map<String, String> values = new HashMap<>(RIGHT);
        values.put(key, within);
        assertThat(problems(values)).isEmpty();
        values.put(key, beyond);
        assertThat(problems(values)).singleElement().asString().contains(key, beyond);
    }

    @Test
    void theLargestPayloadIsTakenAndOneByteMoreRefused() {
        Map<String, String> values = new HashMap<>(RIGHT);
        values.put("twinbox.outbox.max-bytes-per-transaction", "2147483647");
        values.put("twinbox.outbox.max-payload-bytes", "100000000");
        assertThat(problems(values)).isEmpty();
        values.put("twinbox.outbox.max-payload-bytes", "100000001");
        assertThat(problems(values)).singleElement().asString().contains("from 1 to 100000000");
    }

    @Test
    void aNameThatIsWrongIsNamed() {
        String tooLong = "x".repeat(64);
        for (String key : new String[] {"schema", "table"}) {
            Map<String, String> values = new HashMap<>(RIGHT);
            values.put("twinbox.outbox." + key, tooLong);

            assertThat(problems(values))
                    .singleElement()
                    .asString()
                    .startsWith("twinbox.outbox." + key + " = \"" + tooLong + "\" must be an identifier: ");
        }
    }

    private static List<String> problems(Map<String, String> values) {
        return OutboxSettings.problems(new SmallRyeConfigBuilder()
                .withSources(new PropertiesConfigSource(values, "test", 100))
                .build());
    }
}
