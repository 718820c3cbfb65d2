package dev.twinbox.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.InvalidConfigurationException;
import io.smallrye.config.EnvConfigSource;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsReaderTest {

    private enum Mode {
        FAST,
        SAFE;

        String word() {
            return this == FAST ? "as-fast" : "as-safe";
        }
    }

    private static final String PREFIX = "twinbox.test.";

    private static final Setting<String> NAME = Setting.text(PREFIX + "name", "text", "A name.");
    private static final Setting<Integer> SIZE =
            Setting.integer(PREFIX + "page-size", 1, 64, "A size.").withDefault("8");
    private static final Setting<Duration> WAIT =
            Setting.duration(PREFIX + "wait", "PT1S", "PT1M", "A wait.").withDefault("PT5S");
    private static final Setting<Duration> LONGEST_WAIT =
            Setting.duration(PREFIX + "longest-wait", "PT1S", "P1D", "A wait.").withDefault("PT10S");
    private static final Setting<Optional<Duration>> KEEP = Setting.durationOrForever(
                    PREFIX + "keep", "PT1S", "P36500D", "How long.")
            .withDefault("P15D");
    private static final Setting<Mode> MODE = Setting.oneOf(
                    PREFIX + "mode", List.of(Mode.values()), Mode::word, "A mode.")
            .withDefault("as-safe");
    private static final Setting<String> TABLE = Setting.identifier(PREFIX + "table", "A table.", name -> {
                if (name.length() > 5) {
                    throw new IllegalArgumentException("name \"" + name + "\" has too many bytes");
                }
            })
            .optional();
    private static final Setting<Secret> PASSWORD =
            Setting.secret(PREFIX + "password", "A password.").optional();
    private static final Setting<String> URL =
            Setting.of(PREFIX + "url", "URL", "A URL.", SettingsReaderTest::url).optional();

    private static final List<Setting<?>> ALL =
            List.of(NAME, SIZE, WAIT, LONGEST_WAIT, KEEP, MODE, TABLE, PASSWORD, URL);

    @Test
    void defaultsCountForWhatIsNotSet() {
        SettingsReader reader = read(Map.of(NAME.key(), "n"));

        reader.throwIfWrong("Configuration");
        assertThat(reader.get(NAME)).isEqualTo("n");
        assertThat(reader.get(SIZE)).isEqualTo(8);
        assertThat(reader.get(WAIT)).isEqualTo(Duration.ofSeconds(5));
        assertThat(reader.get(KEEP)).contains(Duration.ofDays(15));
        assertThat(reader.get(MODE)).isEqualTo(Mode.SAFE);
        assertThat(reader.find(TABLE)).isEmpty();
    }

    @Test
    void allProblemsAreReportedAtOnceWithKeyValueAndWhatWouldBeLegal() {
        SettingsReader reader = read(Map.of(
                SIZE.key(),
                "0",
                WAIT.key(),
                "5s",
                KEEP.key(),
                "ever",
                MODE.key(),
                "slow",
                TABLE.key(),
                "too long",
                PREFIX + "nmae",
                "x"));
        reader.refuseUnknown(PREFIX);

        assertThat(reader.problems())
                .containsExactly(
                        "twinbox.test.name is missing: set it, or TWINBOX_TEST_NAME in the environment, to text "
                                + "(A name.)",
                        "twinbox.test.page-size = \"0\" must be a whole number from 1 to 64",
                        "twinbox.test.wait = \"5s\" must be an ISO-8601 duration from PT1S to PT1M, such as PT1S",
                        "twinbox.test.keep = \"ever\" must be forever, or an ISO-8601 duration from PT1S to P36500D",
                        "twinbox.test.mode = \"slow\" must be one of as-fast, as-safe",
                        "twinbox.test.table = \"too long\" must be an identifier: name \"too long\" has too many bytes",
                        "twinbox.test.nmae is unknown: did you mean twinbox.test.name?");
        assertThatThrownBy(() -> reader.throwIfWrong("Configuration of the test"))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageStartingWith("Configuration of the test: 7 problems\n  - twinbox.test.name is missing");
        assertThatThrownBy(() -> reader.get(SIZE))
                .isInstanceOf(NoSuchElementException.class)
                .hasMessage(SIZE.key());
    }

    @ParameterizedTest(name = "{0} = {1}")
    @CsvSource(delimiter = '|', ignoreLeadingAndTrailingWhitespace = false, textBlock = """
            page-size|1|1
            page-size| 64 |64
            wait|PT1S|PT1S
            wait|PT60S|PT1M
            keep|P36500D|Optional[PT876000H]
            keep|forever|Optional.empty
            mode|AS-FAST|FAST
            table|a b|a b
            """)
    void aValueWithinItsBoundsIsTaken(String name, String text, String expected) {
        SettingsReader reader = read(Map.of(NAME.key(), "n", PREFIX + name, text));

        assertThat(reader.problems()).isEmpty();
        Setting<?> setting = ALL.stream()
                .filter(s -> s.key().equals(PREFIX + name))
                .findFirst()
                .orElseThrow();
        assertThat(reader.get(setting)).hasToString(expected);
    }

    @ParameterizedTest(name = "{0} = {1}")
    @CsvSource(delimiter = '|', textBlock = """
            page-size | 65
            page-size | 1e1
            page-size | 4MB
            page-size | 99999999999
            wait | PT0.999S
            wait | PT1M0.001S
            wait | -PT5S
            keep | PT0.9S
            keep | P36501D
            mode | as fast
            """)
    void aValueBeyondItsBoundsIsRefused(String name, String text) {
        assertThat(read(Map.of(NAME.key(), "n", PREFIX + name, text)).problems())
                .singleElement()
                .asString()
                .startsWith(PREFIX + name + " = \"" + text + "\" must be ");
    }

    @Test
    void anEmptyValueCountsAsUnsetAndABlankOneIsRefused() {
        assertThat(read(Map.of(NAME.key(), "n", SIZE.key(), "", TABLE.key(), ""))
                        .problems())
                .isEmpty();
        assertThat(read(Map.of(NAME.key(), " ", SIZE.key(), " ")).problems())
                .containsExactly(
                        "twinbox.test.name = \" \" must not be blank",
                        "twinbox.test.page-size = \" \" must be a whole number from 1 to 64");
    }

    @Test
    void anExpressionIsResolvedAndOneThatCannotBeIsOneProblem() {
        assertThat(read(Map.of(NAME.key(), "${other}", "other", "n")).get(NAME)).isEqualTo("n");
        assertThat(read(Map.of(NAME.key(), "${nowhere}")).problems())
                .singleElement()
                .asString()
                .startsWith("twinbox.test.name holds an expression that cannot be resolved: define what ${...} names");
    }

    @Test
    void aRuleAcrossKeysIsCheckedOnlyWhereEachValueIsLegal() {
        SettingsReader reader = read(Map.of(NAME.key(), "n", WAIT.key(), "PT30S"));
        reader.requireAtMost(WAIT, LONGEST_WAIT, "the wait grows");
        reader.requireAtMost(LONGEST_WAIT, WAIT, "nothing is wrong with this one");
        SettingsReader wrong = read(Map.of(NAME.key(), "n", WAIT.key(), "PT30S", LONGEST_WAIT.key(), "soon"));
        wrong.requireAtMost(WAIT, LONGEST_WAIT, "the wait grows");

        assertThat(reader.problems())
                .containsExactly("twinbox.test.wait = \"PT30S\" must not exceed twinbox.test.longest-wait (PT10S): "
                        + "the wait grows");
        assertThat(wrong.problems()).singleElement().asString().startsWith(LONGEST_WAIT.key());
    }

    @Test
    void severalValuesMakeOneOrTheReasonWhyNotIsAProblem() {
        SettingsReader reader = read(Map.of(NAME.key(), "n"));

        assertThat(reader.combine(List.of(NAME, SIZE), () -> reader.get(NAME) + reader.get(SIZE)))
                .contains("n8");
        assertThat(reader.problems()).isEmpty();
        assertThat(reader.combine(List.of(NAME, SIZE), SettingsReaderTest::refuse))
                .isEmpty();
        assertThat(reader.problems()).containsExactly("twinbox.test.name, twinbox.test.page-size: these do not fit");
        assertThat(read(Map.of()).combine(List.of(NAME), SettingsReaderTest::refuse))
                .as("wrong by itself, and that is reported")
                .isEmpty();
    }

    @Test
    void keysBelowAPrefixAreReadAsTheyAre() {
        SettingsReader reader = new SettingsReader(
                config(
                        Map.of(PREFIX + "kafka.linger.ms", "5", PREFIX + "kafka.lingerms", "5"),
                        Map.of("TWINBOX_TEST_KAFKA_BOOTSTRAP_SERVERS", "b:1")),
                Set.of("TWINBOX_TEST_KAFKA_BOOTSTRAP_SERVERS"));

        assertThat(reader.readBelow(PREFIX + "kafka.", List.of("linger.ms", "acks", "bootstrap.servers")))
                .isEqualTo(Map.of("linger.ms", "5", "bootstrap.servers", "b:1"));
        reader.refuseUnknown(PREFIX);
        assertThat(reader.problems())
                .containsExactly("twinbox.test.kafka.lingerms is unknown: did you mean twinbox.test.kafka.linger.ms?");
    }

    @Test
    void aProblemThatOthersFoundShowsKeyValueAndPlace() {
        SettingsReader reader = new SettingsReader(
                config(Map.of(PREFIX + "kafka.linger.ms", "5", PREFIX + "kafka.sasl.jaas.config", "m4rk3r"), Map.of()),
                Set.of(),
                key -> " (relay.properties:7)");
        reader.readBelow(PREFIX + "kafka.", List.of("linger.ms", "sasl.jaas.config"));
        reader.report(PREFIX + "kafka.linger.ms", "is refused by Kafka");
        reader.report(PREFIX + "kafka.sasl.jaas.config", "is refused by Kafka");

        assertThat(reader.problems())
                .containsExactly(
                        "twinbox.test.kafka.linger.ms = \"5\" (relay.properties:7) is refused by Kafka",
                        "twinbox.test.kafka.sasl.jaas.config = \"********\" (relay.properties:7) is refused by Kafka");
    }

    @Test
    void noMessageShowsASecret() {
        SettingsReader reader = read(Map.of(
                NAME.key(), "n",
                PASSWORD.key(), "m4rk3r",
                URL.key(), "postgresql://me:m4rk3r@host/db?sslpassword=m4rk3r"));

        assertThat(reader.get(PASSWORD).value()).isEqualTo("m4rk3r");
        assertThat(reader.get(PASSWORD)).hasToString(Secret.MASK);
        assertThat(reader.problems())
                .containsExactly(
                        "twinbox.test.url = \"postgresql://me:********@host/db?sslpassword=********\" must be a URL");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ssl.keystore.password",
                "ssl.keystore.key",
                "ssl.keystore.certificate.chain",
                "sasl.jaas.config",
                "sasl.oauthbearer.client.credentials.client.secret",
                "sasl.oauthbearer.assertion.private.key.file"
            })
    void theNameOfAKeySaysThatItsValueIsSecret(String name) {
        assertThat(Secret.shown(PREFIX + "kafka." + name, "x")).isEqualTo(Secret.MASK);
        assertThat(Secret.shown(PREFIX + "kafka.ssl.keystore.type", "x")).isEqualTo("x");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
            twinbox.test.pagesize | twinbox.test.pagesize is unknown: did you mean twinbox.test.page-size?
            twinbox.test.waitt    | twinbox.test.waitt is unknown: did you mean twinbox.test.wait?
            twinbox.tests.wait    | twinbox.tests.wait is unknown: did you mean twinbox.test.wait?
            twinbox.test.how.long | twinbox.test.how.long is unknown: remove it (docs/reference/configuration.md lists all keys)
            """)
    void aMisspeltKeyIsRefusedWithASuggestion(String key, String expected) {
        SettingsReader reader = read(Map.of(NAME.key(), "n", key, "x"));
        reader.refuseUnknown("twinbox.");

        assertThat(reader.problems()).containsExactly(expected);
    }

    @Test
    void whatUsersShouldKnowAboutKeysBelowAPrefixIsAdded() {
        SettingsReader reader =
                read(Map.of(NAME.key(), "n", PREFIX + "topic.oders.id", "x", PREFIX + "other.thing", "x"));
        reader.allow(List.of(PREFIX + "topic.orders.id"));
        reader.explain(PREFIX + "topic.", "the topics are [orders]");
        reader.refuseUnknown(PREFIX);

        assertThat(reader.problems())
                .containsExactly(
                        "twinbox.test.other.thing is unknown: remove it (docs/reference/configuration.md lists all keys)",
                        "twinbox.test.topic.oders.id is unknown: did you mean twinbox.test.topic.orders.id? "
                                + "(the topics are [orders])");
    }

    @ParameterizedTest
    @ValueSource(strings = {"twinbox.inbox.group", "twinbox.test.of-another", "twin.box", "quarkus.http.port"})
    void keysOfOthersAreLeftAlone(String key) {
        SettingsReader reader = read(Map.of(NAME.key(), "n", key, "x"));
        reader.allow(List.of("twinbox.test.of-another"));
        reader.refuseUnknown("twinbox.", "twinbox.inbox.");

        assertThat(reader.problems()).isEmpty();
    }

    /** SmallRye's source lists a variable by its name and by a key that it guesses. It is one mistake. */
    @Test
    void aMisspeltVariableIsOneProblemAndAKnownOneNone() {
        Map<String, String> environment = Map.of("TWINBOX_TEST_PAGE_SIZE", "7", "TWINBOX_TEST_PAGE_SIZ", "8");
        SettingsReader reader = new SettingsReader(config(Map.of(NAME.key(), "n"), environment), environment.keySet());
        reader.read(ALL);
        reader.refuseUnknown(PREFIX);

        assertThat(reader.get(SIZE)).isEqualTo(7);
        assertThat(reader.problems())
                .containsExactly("environment variable TWINBOX_TEST_PAGE_SIZ stands for no known key: did you mean "
                        + "TWINBOX_TEST_PAGE_SIZE?");
    }

    @Test
    void aKeyOfWhichOnlyTheVariableWouldBeRightIsUnknown() {
        SettingsReader reader = new SettingsReader(
                config(Map.of(NAME.key(), "n", PREFIX + "page_size", "9"), Map.of("TWINBOX_TEST_PAGE_SIZE", "7")),
                Set.of("TWINBOX_TEST_PAGE_SIZE"));
        reader.read(ALL);
        reader.refuseUnknown(PREFIX);

        assertThat(reader.problems())
                .containsExactly("twinbox.test.page_size is unknown: did you mean twinbox.test.page-size?");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "TWINBOX_TEST_SERVICE_HOST",
                "TWINBOX_TEST_SERVICE_PORT",
                "TWINBOX_TEST_SERVICE_PORT_HTTP",
                "TWINBOX_TEST_PORT",
                "TWINBOX_TEST_PORT_8480_TCP",
                "TWINBOX_TEST_PORT_8480_TCP_ADDR",
                "TWINBOX_TEST_PORT_8480_TCP_PORT",
                "TWINBOX_TEST_PORT_8480_TCP_PROTO"
            })
    void whatKubernetesAddsForAServiceIsNotAMistake(String variable) {
        Map<String, String> environment = Map.of(variable, "tcp://10.0.0.1:8480");
        SettingsReader reader = new SettingsReader(config(Map.of(NAME.key(), "n"), environment), environment.keySet());
        reader.read(ALL);
        reader.refuseUnknown(PREFIX);

        assertThat(reader.problems()).isEmpty();
        assertThat(new SettingsReader(config(Map.of(), environment), environment.keySet()).isAnySet(PREFIX))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"TWINBOX_TEST_PORT_HTTP", "TWINBOX_TEST_SERVICE", "TWINBOX_TEST_HTTP_PORT"})
    void whatOnlyLooksAsIfKubernetesHadAddedItIsAMistake(String variable) {
        SettingsReader reader = new SettingsReader(config(Map.of(NAME.key(), "n"), Map.of()), Set.of(variable));
        reader.read(ALL);
        reader.refuseUnknown(PREFIX);

        assertThat(reader.problems()).singleElement().asString().contains(variable);
    }

    @Test
    void whatIsSetIsSeenInFilesAndInTheEnvironment() {
        assertThat(read(Map.of(SIZE.key(), "1")).isAnySet(PREFIX)).isTrue();
        assertThat(new SettingsReader(config(Map.of(), Map.of()), Set.of("TWINBOX_TEST_NAME")).isAnySet(PREFIX))
                .isTrue();
        assertThat(read(Map.of("twinbox.tests", "1")).isAnySet(PREFIX)).isFalse();
    }

    @Test
    void aDefaultThatIsNotLegalFailsWhereItIsDeclared() {
        assertThatThrownBy(() -> SIZE.withDefault("65"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("must be a whole number from 1 to 64");
    }

    @Test
    void theDocumentationShowsTypeAndDefault() {
        assertThat(List.of(NAME.shownDefault(), SIZE.shownDefault(), TABLE.shownDefault()))
                .containsExactly("required", "`8`", "unset");
        assertThat(List.of(SIZE.type(), WAIT.type(), KEEP.type(), MODE.type()))
                .containsExactly(
                        "integer, 1 to 64",
                        "duration, PT1S to PT1M",
                        "duration, PT1S to P36500D, or `forever`",
                        "`as-fast` or `as-safe`");
    }

    private static String url(String value) {
        throw new IllegalArgumentException("must be a URL");
    }

    private static String refuse() {
        throw new IllegalArgumentException("these do not fit");
    }

    private static SettingsReader read(Map<String, String> values) {
        SettingsReader reader = new SettingsReader(config(values, Map.of()), Set.of());
        reader.read(ALL);
        return reader;
    }

    private static SmallRyeConfig config(Map<String, String> values, Map<String, String> environment) {
        return new SmallRyeConfigBuilder()
                .addDefaultInterceptors()
                .withSources(new PropertiesConfigSource(values, "values", 100), new EnvConfigSource(environment, 300))
                .build();
    }
}
