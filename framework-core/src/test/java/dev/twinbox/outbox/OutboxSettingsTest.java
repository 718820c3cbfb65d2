package dev.twinbox.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.config.Setting;
import dev.twinbox.config.SettingsReader;
import dev.twinbox.schema.OutboxSchema;
import dev.twinbox.schema.TableSettings;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.Config;
import org.junit.jupiter.api.Test;

class OutboxSettingsTest {

    private static final Map<String, String> REQUIRED =
            Map.of("twinbox.outbox.data-source", "java:app/jdbc/orders", "twinbox.outbox.source", "/orders");

    @Test
    void defaultsStandInForAllThatIsNotRequired() {
        assertThat(OutboxSettings.read(config(REQUIRED)))
                .isEqualTo(new OutboxConfiguration(
                        "java:app/jdbc/orders",
                        "/orders",
                        new OutboxSchema(null, "outbox_event"),
                        900_000,
                        10_000,
                        67_108_864));
    }

    @Test
    void everythingCanBeSet() {
        Map<String, String> all = new HashMap<>(REQUIRED);
        all.put("twinbox.outbox.schema", "Sales-EU 1");
        all.put("twinbox.outbox.table", "Out\"Box");
        all.put("twinbox.outbox.max-payload-bytes", "1");
        all.put("twinbox.outbox.max-events-per-transaction", "2");
        all.put("twinbox.outbox.max-bytes-per-transaction", "3");

        assertThat(OutboxSettings.read(config(all)))
                .isEqualTo(new OutboxConfiguration(
                        "java:app/jdbc/orders", "/orders", new OutboxSchema("Sales-EU 1", "Out\"Box"), 1, 2, 3));
        assertThat(all.keySet())
                .as("all keys there are")
                .containsExactlyInAnyOrderElementsOf(
                        Stream.concat(OutboxSettings.ALL.stream(), TableSettings.ALL.stream())
                                .map(Setting::key)
                                .toList());
    }

    @Test
    void allProblemsAreReportedAtOnce() {
        Map<String, String> wrong = Map.of(
                "twinbox.outbox.source", "a b",
                "twinbox.outbox.schema", "x".repeat(64),
                "twinbox.outbox.max-payload-bytes", "-1",
                "twinbox.outbox.max-events-per-transaction", "1.5",
                "twinbox.outbox.max-bytes-per-transaction", "99999999999",
                "twinbox.outbox.tabel", "t");

        assertThatThrownBy(() -> OutboxSettings.read(config(wrong)))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("Configuration of the outbox: 7 problems")
                .satisfies(e -> assertThat(((InvalidConfigurationException) e).problems())
                        .anyMatch(p -> p.startsWith("twinbox.outbox.data-source is missing"))
                        .anyMatch(p -> p.startsWith("twinbox.outbox.source = \"a b\" must be a URI-reference such as"))
                        .anyMatch(p -> p.startsWith("twinbox.outbox.schema = \"x") && p.contains("64 bytes"))
                        .anyMatch(p -> p.startsWith(
                                "twinbox.outbox.max-payload-bytes = \"-1\" must be a whole number from 1 to 100000000"))
                        .anyMatch(p -> p.startsWith("twinbox.outbox.max-events-per-transaction = \"1.5\""))
                        .anyMatch(p -> p.startsWith("twinbox.outbox.max-bytes-per-transaction = \"99999999999\""))
                        .anyMatch(p ->
                                p.startsWith("twinbox.outbox.tabel is unknown: did you mean twinbox.outbox.table?")));
    }

    @Test
    void aTransactionMustHoldTheLargestEvent() {
        Map<String, String> wrong = new HashMap<>(REQUIRED);
        wrong.put("twinbox.outbox.max-payload-bytes", "1000");
        wrong.put("twinbox.outbox.max-bytes-per-transaction", "999");

        assertThat(OutboxSettings.problems(config(wrong)))
                .singleElement()
                .asString()
                .contains(
                        "max-payload-bytes = \"1000\" must not exceed twinbox.outbox.max-bytes-per-transaction (999): ");
    }

    @Test
    void aDroppedKeyIsRefusedWithWhatToDoInstead() {
        Map<String, String> wrong = new HashMap<>(REQUIRED);
        wrong.put("twinbox.outbox.lease-table", "outbox_event");

        assertThat(OutboxSettings.problems(config(wrong)))
                .containsExactly(
                        "twinbox.outbox.lease-table is unknown: it was dropped, remove it. All tables are named "
                                + "after twinbox.outbox.table: outbox_event, outbox_position, outbox_lease");
        assertThat(problems(REQUIRED, Set.of("TWINBOX_OUTBOX_POSITION_TABLE")))
                .singleElement()
                .asString()
                .startsWith("environment variable TWINBOX_OUTBOX_POSITION_TABLE is unknown: it was dropped, remove it");
    }

    @Test
    void aMisspeltEnvironmentVariableIsUnknownToo() {
        assertThat(problems(REQUIRED, Set.of("TWINBOX_OUTBOX_TABLE", "TWINBOX_OUTBOX_TABEL", "TWINBOX_RELAY_NAME")))
                .containsExactly("environment variable TWINBOX_OUTBOX_TABEL stands for no known key: did you mean "
                        + "TWINBOX_OUTBOX_TABLE?");
    }

    @Test
    void aNameGuessedFromAKnownEnvironmentVariableIsKnown() {
        Map<String, String> guessed = new HashMap<>(REQUIRED);
        guessed.put("twinbox.outbox.max.payload.bytes", "5");

        assertThat(problems(guessed, Set.of("TWINBOX_OUTBOX_MAX_PAYLOAD_BYTES")))
                .isEmpty();
        assertThat(OutboxSettings.problems(config(guessed)))
                .singleElement()
                .asString()
                .startsWith("twinbox.outbox.max.payload.bytes is unknown");
    }

    @Test
    void keysOfRelayAndInboxAreNoneOfOurs() {
        Map<String, String> others = new HashMap<>(REQUIRED);
        others.put("twinbox.inbox.group", "g");
        others.put("twinbox.outboxes", "x");

        assertThat(OutboxSettings.problems(config(others))).isEmpty();
        assertThat(OutboxSettings.isAnySet(config(Map.of("twinbox.inbox.group", "g"))))
                .isFalse();
        assertThat(OutboxSettings.isAnySet(config(REQUIRED))).isTrue();
    }

    private static List<String> problems(Map<String, String> values, Set<String> environment) {
        try {
            OutboxSettings.read(new SettingsReader(config(values), environment));
            return List.of();
        } catch (InvalidConfigurationException e) {
            return e.problems();
        }
    }

    private static Config config(Map<String, String> values) {
        return new SmallRyeConfigBuilder()
                .withSources(new PropertiesConfigSource(values, "test", 100))
                .build();
    }
}
