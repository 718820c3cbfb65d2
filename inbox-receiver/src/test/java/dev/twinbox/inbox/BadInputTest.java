package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.twinbox.InvalidConfigurationException;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** One mistake at a time: the message names the place, the value and what would be right. */
class BadInputTest {

    private static final Map<String, String> RIGHT = Map.of(
            "twinbox.inbox.group", "shipping",
            "twinbox.inbox.data-source", "java:app/jdbc/shipping",
            "twinbox.inbox.kafka.bootstrap.servers", "localhost:9092");

    @ParameterizedTest(name = "{0} = {1}")
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            twinbox.inbox.group | ~~ | is not set
            twinbox.inbox.data-source | ~~ | is not set
            twinbox.inbox.kafka.bootstrap.servers | ~~ | is not set
            twinbox.inbox.kafka.bootstrap.servers | localhost | localhost
            twinbox.inbox.kafka.bootstrap.servers | localhost:port | localhost:port
            twinbox.inbox.table | ~a234567890123456789012345678901234567890123456789012345678901234~ | after 63
            twinbox.inbox.parked-table | ~a234567890123456789012345678901234567890123456789012345678901234~ | after 63
            twinbox.inbox.parked-table | inbox_event | twinbox.inbox.table
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
            twinbox.inbox.lanes | 8 | more than twinbox.inbox.workers
            twinbox.inbox.lanes-ahead | 0 | from 1 to 1000000
            twinbox.inbox.buffer.partition-bytes | 32MB | from 1024 to 2147483647
            twinbox.inbox.buffer.partition-bytes | 134217729 | more than twinbox.inbox.buffer.total-bytes
            twinbox.inbox.buffer.total-bytes | 1023 | from 1024 to 2147483647
            twinbox.inbox.retry.initial | PT1H | more than twinbox.inbox.retry.max
            twinbox.inbox.retry.max | often | ISO-8601 duration
            twinbox.inbox.quick-tries | 0 | from 1 to 100
            twinbox.inbox.parked.attempts | -1 | from 1 to 1000000
            twinbox.inbox.parked.retry.initial | PT24H | more than twinbox.inbox.parked.retry.max
            twinbox.inbox.parked.when-dead | skip | block-key or pass-key
            twinbox.inbox.event-id | ce_id | cloudevent, header:NAME
            twinbox.inbox.event-id | json-pointer:id | a JSON pointer such as /order/id
            twinbox.inbox.event-type | coordinates | fixed:TYPE
            twinbox.inbox.value-format | avro | plain or connect-json
            twinbox.inbox.topic.orders.event-id | header: | header:NAME
            twinbox.inbox.retention | 15 days | ISO-8601 duration
            twinbox.inbox.retention | never | forever
            twinbox.inbox.stop.timeout | 15 | ISO-8601 duration
            twinbox.inbox.kafka.fetch.max.bytes | many | Not a number
            """)
    void aWrongValueIsRefusedWithKeyValueAndRemedy(String key, String value, String expected) {
        assertThat(problem(key, value)).contains(key, value, expected);
    }

    @ParameterizedTest(name = "{0} = {1}")
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            twinbox.inbox.topic.oders.event-id | key | the topics of this application's handlers are [orders]
            twinbox.inbox.topic.orders.event-name | key | unknown key
            twinbox.inbox.batchsize | 10 | unknown key
            twinbox.inbox.kafka.group.id | other | twinbox.inbox.group
            twinbox.inbox.kafka.enable.auto.commit | true | can not be set
            twinbox.inbox.kafka.isolation.level | read_uncommitted | can not be set
            twinbox.inbox.kafka.auto.offset.reset | latest | can not be set
            twinbox.inbox.kafka.max.poll.records | 7 | it follows from twinbox.inbox.batch.size
            twinbox.inbox.kafka.fetch.min.byte | 1 | unknown key
            """)
    void aWrongKeyIsRefusedWithTheRemedy(String key, String value, String expected) {
        assertThat(problem(key, value)).contains(key, expected);
    }

    /** The only one. */
    private static String problem(String key, String value) {
        Map<String, String> values = new HashMap<>(RIGHT);
        values.put(key, value);
        InvalidConfigurationException refusal = catchThrowableOfType(
                InvalidConfigurationException.class,
                () -> InboxConfig.from(
                        new SmallRyeConfigBuilder()
                                .withSources(new PropertiesConfigSource(values, "values", 100))
                                .build(),
                        Set.of("orders")));
        assertThat(refusal.problems()).hasSize(1);
        return refusal.problems().get(0);
    }

    @ParameterizedTest(name = "arguments: {0}")
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            ~~ | Missing command: migrate, parked or forget
            walk | walk
            migrate | --url
            migrate --url jdbc:mysql://localhost/shop | jdbc:mysql://localhost/shop
            migrate --url nowhere | nowhere
            migrate --url jdbc:postgresql://localhost/shop --tabel x | --tabel
            migrate --url jdbc:postgresql://localhost/shop --url jdbc:postgresql://localhost/shop | --url
            migrate --url jdbc:postgresql://localhost/shop extra | extra
            parked | Missing command: list, show, redrive or discard
            parked resend | resend
            parked list | --url
            parked list --url nowhere | nowhere
            parked show --url jdbc:postgresql://localhost/shop | NUMBER
            parked show --url jdbc:postgresql://localhost/shop seven | seven
            parked show --url jdbc:postgresql://localhost/shop 1 2 | 2
            parked redrive --url jdbc:postgresql://localhost/shop | NUMBER
            parked redrive --url jdbc:postgresql://localhost/shop 1 two | two
            parked discard --url jdbc:postgresql://localhost/shop | NUMBER
            parked discard --url jdbc:postgresql://localhost/shop 1.5 | 1.5
            forget --url jdbc:postgresql://localhost/shop | --handler
            forget --handler place | --url
            forget --url nowhere --handler place | nowhere
            forget --url jdbc:postgresql://localhost/shop --handler place --from yesterday | yesterday
            forget --url jdbc:postgresql://localhost/shop --handler place --to 2026-11-29 | 2026-11-29
            forget --url jdbc:postgresql://localhost/shop --handler place --sure | --sure
            """)
    void wrongArgumentsAreExitCode2AndNameWhatIsWrong(String arguments, String expected) {
        StringWriter err = new StringWriter();
        StringWriter out = new StringWriter();
        CommandLine line = new CommandLine(new InboxCli())
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true));

        assertThat(line.execute(arguments.isBlank() ? new String[0] : arguments.split(" ")))
                .isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(err.toString()).contains(expected).doesNotContain("\tat ");
        assertThat(out.toString()).isEmpty();
    }
}
