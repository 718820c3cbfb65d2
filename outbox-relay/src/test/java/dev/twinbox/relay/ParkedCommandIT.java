package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.config.ExitCode;
import jakarta.json.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code parked} in both forms of its output, on tables that no relay works on. */
class ParkedCommandIT {
    private static final String HEADER = "NUMBER\tSTATE\tTOPIC\tKEY\tTYPE\tATTEMPTS\tPARKED\tERROR";

    private CommandRig commands;

    @TempDir
    private Path folder;

    @BeforeEach
    void park() throws SQLException, IOException {
        commands = new CommandRig(folder);
        insert("refused", "orders", "'42'", "'order.placed'", "'too large'");
        insert("behind", "orders", "'42'", "'order.placed'", "null");
        insert("waiting", "orders", "null", "'order.paid'", "'Topic is missing' || chr(10) || 'at X'");
        insert("sending", "stock", "'7'", "'order.paid'", "null");
        insert("behind", "stock", "'7'", "'order.paid'", "null");
        execute("insert into outbox_parked (relay, state, seq, topic, error)"
                + " values ('other', 'refused', 1, 'orders', 'of another relay')");
        execute("update outbox_parked set since = '2026-11-29T12:00:00Z', partition = 2,"
                + " headers = array['tenant', 'blue'], payload = 'secret' where number in (1, 3)");
    }

    @AfterEach
    void close() throws SQLException {
        commands.close();
    }

    @Test
    void listsWhatIsSelectedAndLastWhatOnlyWaitsForAnother() {
        List<String> lines = run("list").lines().toList();
        assertThat(lines.get(0)).isEqualTo(HEADER);
        assertThat(lines.get(1)).isEqualTo("1\trefused\torders\t42\torder.placed\t0\t2026-11-29T12:00:00Z\ttoo large");
        assertThat(lines.get(2))
                .isEqualTo("3\twaiting\torders\t-\torder.paid\t0\t2026-11-29T12:00:00Z\tTopic is missing");
        assertThat(lines.subList(3, 6))
                .extracting(line -> line.substring(0, line.indexOf('\t', 2)))
                .containsExactly("4\tsending", "2\tbehind", "5\tbehind");
        assertThat(lines).hasSize(6);

        assertThat(run("list", "--limit", "2").lines()).hasSize(4).endsWith("3 more, see --limit");
        assertThat(numbers("--topic", "orders")).containsExactly(1, 3, 2);
        assertThat(numbers("--key", "7", "--all")).containsExactly(4, 5);
        assertThat(numbers("--type", "order.paid", "--topic", "orders")).containsExactly(3);
        assertThat(numbers("--error", "TOPIC IS")).containsExactly(3);
        assertThat(numbers("--since", "PT1H")).containsExactly(4, 2, 5);
        assertThat(numbers("--since", "2026-11-29T12:00:01Z")).containsExactly(4, 2, 5);
        assertThat(numbers("--since", "2026-11-29T13:00:00+01:00")).containsExactly(1, 3, 4, 2, 5);
        assertThat(run("list", "--key", "'; drop table outbox_parked --")).isEqualToIgnoringNewLines("0 parked events");
        assertThat(run("list", "--key", "none", "--json")).isEqualToIgnoringNewLines("{\"parked\":[],\"more\":0}");
    }

    @Test
    void listAndShowAreAlsoOneJsonDocument() {
        JsonObject list = json("list", "--limit", "2", "--json");
        assertThat(list.getInt("more")).isEqualTo(3);
        JsonObject refused = list.getJsonArray("parked").getJsonObject(0);
        assertThat(refused.keySet())
                .containsExactly("number", "state", "topic", "key", "type", "attempts", "parkedAt", "error");
        assertThat(refused.getString("parkedAt")).isEqualTo("2026-11-29T12:00:00Z");
        JsonObject waiting = list.getJsonArray("parked").getJsonObject(1);
        assertThat(waiting.getInt("partition")).isEqualTo(2);
        assertThat(waiting.getString("error")).isEqualTo("Topic is missing\nat X");
        assertThat(waiting.containsKey("key")).isFalse();

        JsonObject shown = json("show", "1", "--json");
        assertThat(shown.getInt("valueBytes")).isEqualTo(6);
        assertThat(shown.getInt("behind")).isEqualTo(1);
        assertThat(shown.getJsonArray("headers")).hasToString("[{\"name\":\"tenant\",\"value\":\"blue\"}]");
        assertThat(run("show", "1"))
                .contains("payload bytes   6", "headers         tenant = blue", "behind it       1")
                .doesNotContain("secret");
        assertThat(run("show", "99")).isEqualToIgnoringNewLines("No parked event 99");
        assertThat(run("show", "99", "--json")).isEqualToIgnoringNewLines("{}");
    }

    @Test
    void retryGivesBackWhatIsRefusedOrWaitsAndNothingElse() throws SQLException {
        assertThat(run("retry", "--topic", "orders", "--dry-run")).isEqualToIgnoringNewLines("2 would be retried");
        assertThat(json("retry", "--key", "42", "--dry-run", "--json")).hasToString("{\"retried\":1,\"dryRun\":true}");
        assertThat(states()).isEqualTo("refused behind waiting sending behind refused");

        assertThat(run("retry", "1", "2", "99")).isEqualToIgnoringNewLines("1 retried");
        assertThat(states()).isEqualTo("ready behind waiting sending behind refused");
        assertThat(json("retry", "--all", "--json")).hasToString("{\"retried\":1,\"dryRun\":false}");
        assertThat(run("retry", "--all")).isEqualToIgnoringNewLines("0 retried");
        assertThat(states()).isEqualTo("ready behind ready sending behind refused");
    }

    @Test
    void discardLeavesWhatIsBeingSent() throws SQLException {
        assertThat(run("discard", "--all", "--dry-run")).isEqualToIgnoringNewLines("4 would be discarded");
        assertThat(states()).isEqualTo("refused behind waiting sending behind refused");

        assertThat(run("discard", "2")).isEqualToIgnoringNewLines("1 discarded");
        assertThat(run("discard", "2", "99")).isEqualToIgnoringNewLines("0 discarded");
        assertThat(json("discard", "--all", "--json")).hasToString("{\"discarded\":3,\"dryRun\":false}");
        assertThat(states()).isEqualTo("discarded discarded discarded sending discarded refused");
        assertThat(run("discard", "--key", "7")).isEqualToIgnoringNewLines("0 discarded");
    }

    @Test
    void whoNamesAnEventThatIsBeingSentIsTold() throws SQLException {
        assertThat(execute(ExitCode.USAGE, "discard", "4", "5")).isEqualToIgnoringNewLines("1 discarded");
        assertThat(commands.errors())
                .isEqualToIgnoringNewLines("error: event 4 is being sent: it is too late to discard it, let it arrive");
        assertThat(states()).isEqualTo("refused behind waiting sending discarded refused");
    }

    @Test
    void thousandsAreRetriedAndDiscardedAtOnce() throws SQLException {
        execute("insert into outbox_parked (relay, state, seq, topic, key, error)"
                + " select 'relay', 'refused', n, 'many', 'k' || n, 'e' from generate_series(1, 2500) n");
        assertThat(run("retry", "--topic", "many")).isEqualToIgnoringNewLines("2500 retried");
        assertThat(run("discard", "--topic", "many")).isEqualToIgnoringNewLines("2500 discarded");
        assertThat(run("list", "--limit", "1")).contains("2504 more, see --limit");
    }

    private void insert(String state, String topic, String key, String type, String error) throws SQLException {
        execute("insert into outbox_parked (relay, state, seq, topic, key, type, error) values ('relay', '" + state
                + "', 1, '" + topic + "', " + key + ", " + type + ", " + error + ")");
    }

    private void execute(String sql) throws SQLException {
        commands.execute(sql);
    }

    private String states() throws SQLException {
        return commands.query("select string_agg(state, ' ' order by number) from outbox_parked");
    }

    private List<Integer> numbers(String... selection) {
        List<String> arguments = new ArrayList<>(List.of("list", "--json"));
        arguments.addAll(List.of(selection));
        return json(arguments.toArray(String[]::new)).getJsonArray("parked").getValuesAs(JsonObject.class).stream()
                .map(event -> event.getInt("number"))
                .toList();
    }

    private JsonObject json(String... arguments) {
        return CommandRig.json(run(arguments));
    }

    private String run(String... arguments) {
        String printed = execute(ExitCode.OK, arguments);
        assertThat(commands.errors()).isEmpty();
        return printed;
    }

    /** Returns what the command prints. */
    private String execute(ExitCode expected, String... arguments) {
        List<String> command = new ArrayList<>(List.of("parked"));
        command.addAll(List.of(arguments));
        return commands.run(expected, command);
    }
}
