package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.schema.OutboxSchema;
import jakarta.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the commands say of paused topics. */
class PausedTopicCommandsIT {
    @TempDir
    private Path folder;

    @Test
    void severalTopicsArePausedAndResumedAndEachViewShowsIt() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            String missing = rig.topic() + "-missing";
            String[] pause = {"pause", "--topic", rig.topic(), "--topic", missing};
            String first = rig.command(Map.of(), pause);
            assertThat(first)
                    .contains("topic \"" + rig.topic() + "\" of relay \"relay\" is paused since ")
                    .contains("topic \"" + missing + "\" of relay \"relay\" is paused since ")
                    .contains("No relay of this name has run here yet: check twinbox.relay.name")
                    .contains("check the name: Kafka does not show topic \"" + missing + '"')
                    .doesNotContain("does not show topic \"" + rig.topic() + '"');
            assertThat(rig.command(Map.of(), pause)).as("a second time").isEqualTo(first);
            String since = rig.command(Map.of(), "status");
            assertThat(since)
                    .containsPattern("paused +no")
                    .containsPattern("paused topics +" + rig.topic() + " since 20\\S+, " + missing + " since 20")
                    .containsPattern("stuck +.*an operator has paused topics: " + rig.topic() + ", " + missing);
            assertThat(rig.command(Map.of(), "topics"))
                    .contains("TOPIC\tUNSENT\tPARKED\tPAUSED\tKAFKA\n")
                    .containsPattern(rig.topic() + "\t-\t-\tsince 20\\S+\t3 partitions\n")
                    .containsPattern(missing + "\t-\t-\tsince 20\\S+\tcreate it");
            assertThat(rig.command(Map.of(), "resume"))
                    .contains("relay \"relay\" was not paused")
                    .contains("topics that stay paused: " + rig.topic() + ", " + missing);
            assertThat(rig.command(Map.of(), "resume", "--topic", missing, "--topic", "never"))
                    .contains("topic \"" + missing + "\" of relay \"relay\" is resumed")
                    .contains("topic \"never\" of relay \"relay\" was not paused");
            JsonObject status = CommandRig.json(rig.command(Map.of(), "status", "--json"));
            assertThat(status.getJsonArray("pausedTopics").getValuesAs(JsonObject.class))
                    .singleElement()
                    .satisfies(each -> assertThat(each.getString("topic")).isEqualTo(rig.topic()));
            assertThat(rig.command(Map.of(), "actions").lines().map(line -> line.replaceAll("^.*command-line\t", "")))
                    .containsExactly(
                            "NUMBER\tAT\tWHO\tVIA\tACTION\tEVENTS\tSELECTION",
                            "resume\t-\ttopic \"" + missing + '"',
                            "pause\t-\ttopic \"" + missing + '"',
                            "pause\t-\ttopic \"" + rig.topic() + '"');
        }
    }

    @Test
    void anIllegalNamePausesNothing() throws Exception {
        try (CommandRig commands = new CommandRig(folder)) {
            commands.run(ExitCode.USAGE, List.of("pause", "--topic", "orders", "--topic", "a/b"));
            assertThat(commands.errors()).contains("topic \"a/b\" has an illegal character at index 1");
            commands.run(ExitCode.USAGE, List.of("resume", "--topic", ""));
            assertThat(commands.query("select count(*) from outbox_paused")).isEqualTo("0");
            assertThat(commands.query("select count(*) from outbox_action")).isEqualTo("0");
        }
    }

    /** Tables of version 9 know no paused topics. A relay that runs goes on when they are migrated. */
    @Test
    void tablesOfAnEarlierVersionAreMigratedWhileTheRelayRuns() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            rig.execute(
                    "drop table outbox_resend, outbox_paused; alter table outbox_action drop constraint events_selected,"
                            + " add constraint events_selected check ((selection is null) = (events is null))");
            try (CommandRig commands = new CommandRig(folder)) {
                commands.execute("drop table outbox_resend, outbox_paused");
                commands.run(ExitCode.SCHEMA, List.of("pause", "--topic", "orders"));
                assertThat(commands.errors()).contains("outbox_paused", "run \"twinbox-relay migrate\"");
                assertThat(commands.run(ExitCode.OK, List.of("status"))).contains("version 9");
            }
            var relay = rig.startRelay(Map.of());
            rig.insertAndCommit(1);
            rig.awaitRecords(1);

            rig.execute(OutboxDatabaseFixture.SCHEMA.script(9, null));
            assertThat(rig.command(Map.of(), "status")).contains("version " + OutboxSchema.VERSION);
            rig.command(Map.of(), "pause", "--topic", rig.topic());
            await("the relay has read it")
                    .until(() -> RelayMetrics.of(relay).value("twinbox_relay_paused_topics") == 1);
            rig.insertAndCommit(1);
            await("parked").until(() -> rig.count("select count(*) from outbox_parked where partition = -2") == 1);
            assertThat(rig.recordCount()).isOne();
            rig.command(Map.of(), "resume", "--topic", rig.topic());
            rig.awaitRecords(2);
            assertThat(relay.terminate()).as(relay.log()).isZero();
        }
    }
}
