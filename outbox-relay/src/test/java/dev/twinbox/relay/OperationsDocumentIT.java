package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.relay.engine.Scenario24TooLargeIT;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The instructions for a stuck key in docs/how-to/relay-in-production.md work, word for word, on a real relay. */
@Tag("proof")
class OperationsDocumentIT {
    private static final Duration SOON = Duration.ofSeconds(90);
    private static final Map<String, String> CONFIG = Map.of("twinbox.relay.kafka.max.request.size", "10000");

    @Test
    void theCommandsOfThePageFindAndFreeAStuckKey() throws Exception {
        String section = section();
        try (RelayRig rig = RelayRig.create();
                Connection connection = rig.connect()) {
            RelayProcess relay = rig.startRelay(CONFIG);
            insert(connection, rig.topic(), "42", Scenario24TooLargeIT.incompressible(20_000));
            insert(connection, rig.topic(), "42", "behind");
            insert(connection, rig.topic(), "43", "not concerned");
            rig.awaitRecords(1);
            await("it is parked").atMost(SOON).until(() -> rig.count("select count(*) from outbox_parked") == 2);
            long number = rig.count("select number from outbox_parked where state = 'refused'");

            List<String> answers = new ArrayList<>();
            List<String> commands = commands(section);
            assertThat(commands).hasSize(8);
            for (String command : commands) {
                answers.add(run(rig, command.replace("orders", rig.topic()).replace("17", Long.toString(number))));
                await("the relay has looked at it").atMost(SOON).until(() -> isSettled(rig));
            }
            assertThat(answers.get(0))
                    .containsPattern("(?m)^" + number + "\trefused\t\\S+\t42\t.*max\\.request\\.size");
            assertThat(answers.get(0)).containsPattern("(?m)^\\d+\tbehind\t\\S+\t42\t");
            assertThat(answers.get(1)).isEqualTo(answers.get(0));
            assertThat(answers.get(2)).contains("max.request.size", "42").containsPattern("behind it +1\\b");
            assertThat(answers.subList(3, 6))
                    .allSatisfy(answer -> assertThat(answer).contains("1 retried"));
            assertThat(answers.get(6)).contains("1 discarded");
            assertThat(answers.get(7)).contains("\tpassed\t" + rig.topic());

            rig.awaitRecords(2);
            await("nothing is parked").atMost(SOON).until(() -> rig.count("select count(*) from outbox_parked") == 0);
            assertThat(run(rig, "status")).containsPattern("stuck +no").containsPattern("parked +none");
            assertThat(relay.terminate()).isZero();
        }
    }

    /** No event is given back, being sent or discarded. */
    private static boolean isSettled(RelayRig rig) throws SQLException {
        return rig.count("select count(*) from outbox_parked where state in ('ready', 'sending', 'discarded')") == 0;
    }

    private static String section() throws IOException {
        String document = Files.readString(Path.of("..", "docs", "how-to", "relay-in-production.md"));
        int begin = document.indexOf("## Free a stuck key");
        return document.substring(begin, document.indexOf("\n## ", begin));
    }

    private static List<String> commands(String section) {
        return section.lines()
                .map(String::strip)
                .filter(line -> line.startsWith("twinbox-relay "))
                .map(line -> line.substring("twinbox-relay ".length()))
                .toList();
    }

    private static String run(RelayRig rig, String command) {
        return rig.command(CONFIG, command.split(" "));
    }

    private static void insert(Connection connection, String topic, String key, String payload) throws SQLException {
        OutboxDatabaseFixture.insert(connection, topic, key, payload.getBytes(StandardCharsets.UTF_8));
    }
}
