package dev.twinbox.inbox.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.twinbox.InvalidConfigurationException;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.eclipse.microprofile.config.Config;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One mistake at a time: the message names the place, the value and what would be right. */
class BadInputTest {

    private static final Map<String, String> RIGHT = Map.of(
            "twinbox.inbox.group", "shipping",
            "twinbox.inbox.data-source", "java:app/jdbc/shipping",
            "twinbox.inbox.kafka.bootstrap.servers", "localhost:9092");

    @ParameterizedTest(name = "{0} = {1}")
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            twinbox.inbox.group | ~~ | is missing
            twinbox.inbox.data-source | ~~ | is missing
            twinbox.inbox.kafka.bootstrap.servers | ~~ | is missing
            twinbox.inbox.kafka.bootstrap.servers | localhost | localhost
            twinbox.inbox.kafka.bootstrap.servers | localhost:port | localhost:port
            twinbox.inbox.table | ~a234567890123456789012345678901234567890123456789012345678901234~ | after 63
            twinbox.inbox.table | ~a23456789012345678901234567890123456789012345678901234~ | after 63
            twinbox.inbox.schema | ~a234567890123456789012345678901234567890123456789012345678901234~ | after 63
            twinbox.inbox.batch.size | 0 | from 1 to 10000
            twinbox.inbox.batch.size | 10001 | from 1 to 10000
            twinbox.inbox.batch.size | five | from 1 to 10000
            twinbox.inbox.batch.size | 1.5 | from 1 to 10000
            twinbox.inbox.batch.max-time | 5s | ISO-8601 duration
            twinbox.inbox.batch.max-time | PT0S | ISO-8601 duration
            twinbox.inbox.batch.max-time | -PT1S | ISO-8601 duration
            twinbox.inbox.workers | 0 | from 1 to 256
            twinbox.inbox.workers | 257 | from 1 to 256
            twinbox.inbox.lanes | 0 | from 1 to 64
            twinbox.inbox.lanes | 8 | must not exceed twinbox.inbox.workers (4)
            twinbox.inbox.retry.max | often | ISO-8601 duration
            twinbox.inbox.quick-tries | 0 | from 1 to 100
            twinbox.inbox.parked.attempts | -1 | from 1 to 1000000
            twinbox.inbox.parked.retry.initial | PT24H | must not exceed twinbox.inbox.parked.retry.max (PT10M)
            twinbox.inbox.parked.when-dead | skip | block-key, pass-key
            twinbox.inbox.event-id | ce_id | cloudevent, cloudevent-id, header:NAME
            twinbox.inbox.event-id | json-pointer:id | a JSON pointer such as /order/id
            twinbox.inbox.event-type | coordinates | fixed:TYPE
            twinbox.inbox.value-format | avro | plain, connect-json
            twinbox.inbox.topic.orders.event-id | header: | header:NAME
            twinbox.inbox.retention | 15 days | ISO-8601 duration
            twinbox.inbox.retention | never | forever
            twinbox.inbox.shutdown-timeout | 15 | ISO-8601 duration
            twinbox.inbox.kafka.fetch.max.bytes | many | Not a number
            """)
    void aWrongValueIsRefusedWithKeyValueAndRemedy(String key, String value, String expected) {
        assertThat(problem(key, value)).contains(key, value, expected);
    }

    @ParameterizedTest(name = "{0} = {1}")
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            twinbox.inbox.topic.oders.event-id | key | the topics of this application's handlers are [orders]
            twinbox.inbox.topic.orders.event-name | key | is unknown
            twinbox.inbox.batchsize | 10 | is unknown: did you mean twinbox.inbox.batch.size?
            twinbox.inbox.kafka.group.id | other | twinbox.inbox.group
            twinbox.inbox.kafka.enable.auto.commit | true | cannot be set
            twinbox.inbox.kafka.isolation.level | read_uncommitted | cannot be set
            twinbox.inbox.kafka.auto.offset.reset | latest | cannot be set
            twinbox.inbox.kafka.max.poll.records | 7 | it follows from twinbox.inbox.batch.size
            twinbox.inbox.kafka.fetch.min.byte | 1 | is unknown: did you mean twinbox.inbox.kafka.fetch.min.bytes?
            twinbox.inbox.stop.timeout | PT15S | is unknown: it was dropped, set twinbox.inbox.shutdown-timeout instead
            twinbox.inbox.parked-table | waiting | The table is named after twinbox.inbox.table
            twinbox.inbox.lanes-ahead | 1000 | It is always 5000
            twinbox.inbox.buffer.partition-bytes | 1000000 | It is always 33554432
            twinbox.inbox.buffer.total-bytes | 1000000 | It is always 134217728
            twinbox.inbox.retry.initial | PT1S | It is always PT0.1S
            """)
    void aWrongKeyIsRefusedWithTheRemedy(String key, String value, String expected) {
        assertThat(problem(key, value)).contains(key, expected);
    }

    /** And one further is refused: no bound is off by one. */
    @ParameterizedTest(name = "{0} = {1}")
    @CsvSource(delimiter = '|', textBlock = """
            twinbox.inbox.batch.size | 1 | 0
            twinbox.inbox.batch.size | 10000 | 10001
            twinbox.inbox.batch.max-time | PT0.001S | PT0.000999S
            twinbox.inbox.batch.max-time | P1D | PT24H0.001S
            twinbox.inbox.workers | 1 | 0
            twinbox.inbox.workers | 256 | 257
            twinbox.inbox.lanes | 1 | 0
            twinbox.inbox.lanes | 4 | 5
            twinbox.inbox.retry.max | PT0.1S | PT0.099S
            twinbox.inbox.quick-tries | 1 | 0
            twinbox.inbox.quick-tries | 100 | 101
            twinbox.inbox.parked.attempts | 1 | 0
            twinbox.inbox.parked.attempts | 1000000 | 1000001
            twinbox.inbox.parked.retry.initial | PT10M | PT10M0.001S
            twinbox.inbox.retention | PT1S | PT0.999S
            twinbox.inbox.retention | P36500D | P36501D
            """)
    void theBoundIsWithinAndWhatIsBeyondItIsNot(String key, String within, String beyond) {
        assertThatCode(() -> read(key, within)).doesNotThrowAnyException();
        assertThat(problem(key, beyond)).contains(key);
    }

    @Test
    void lanesMayBeAsManyAsThereAreWorkersAtMost64() {
        assertThatCode(() -> InboxConfigReader.read(
                        config(Map.of("twinbox.inbox.lanes", "64", "twinbox.inbox.workers", "64")), Set.of("orders")))
                .doesNotThrowAnyException();
        InboxConfig two = InboxConfigReader.read(config(Map.of("twinbox.inbox.lanes", "2")), Set.of("orders"));
        assertThat(two.lanes()).isEqualTo(new InboxConfig.Lanes(2, 5000));
        assertThatThrownBy(() -> InboxConfigReader.read(
                        config(Map.of("twinbox.inbox.lanes", "65", "twinbox.inbox.workers", "256")), Set.of("orders")))
                .hasMessageContaining("from 1 to 64");
    }

    /** The only one. */
    private static String problem(String key, String value) {
        InvalidConfigurationException refusal =
                catchThrowableOfType(InvalidConfigurationException.class, () -> read(key, value));
        assertThat(refusal.problems()).hasSize(1);
        return refusal.problems().get(0);
    }

    private static InboxConfig read(String key, String value) {
        return InboxConfigReader.read(config(Map.of(key, value)), Set.of("orders"));
    }

    private static Config config(Map<String, String> more) {
        Map<String, String> values = new HashMap<>(RIGHT);
        values.putAll(more);
        return new SmallRyeConfigBuilder()
                .withSources(new PropertiesConfigSource(values, "values", 100))
                .build();
    }
}
