package dev.twinbox.inbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The command line as its users have it: the executable jar in a JVM of its own. */
@Tag("proof")
class InboxCliIT {

    /** Nothing of a run may show it. */
    private static final String SECRET = "s3cr3t-marker";

    /** What a run left behind. */
    private record Run(int exitCode, String output) {}

    @Test
    void migrateCreatesTheTableOnceUnderTheNamesItWasGiven() throws Exception {
        Postgres.server().createDatabase("cli");

        Run first = migrate("cli", "--schema", "Sales-EU 1", "--table", "In\"Box");
        Run second = migrate("cli", "--schema", "Sales-EU 1", "--table", "In\"Box");

        assertThat(first.exitCode()).as(first.output()).isZero();
        assertThat(second.exitCode()).as(second.output()).isZero();
        assertThat(second.output()).contains("\"Sales-EU 1\".\"In\"\"Box\"", "applied 0 migration(s)");
        assertThat(first.output().lines()).as("nothing of Flyway").hasSize(1);
        try (var connection = Postgres.server().connect("cli");
                var statement = connection.createStatement();
                var rows = statement.executeQuery("select count(*) from \"Sales-EU 1\".\"In\"\"Box\"")) {
            rows.next();
            assertThat(rows.getInt(1)).isZero();
        }
    }

    @Test
    void whatCanNotBeUnderstoodIsSaidWithTheUsage() throws Exception {
        Run noCommand = run(List.of());
        Run unknown = run(List.of("migrate", "--url", "jdbc:postgresql://localhost/x", "--tabel", "x"));
        Run noUrl = run(List.of("migrate"));
        Run badUrl = run(List.of("migrate", "--url", "jdbc:mysql://localhost/x"));

        assertThat(noCommand.exitCode()).isEqualTo(2);
        assertThat(noCommand.output()).contains("Missing command", "Usage: twinbox-inbox-cli");
        assertThat(unknown.exitCode()).isEqualTo(2);
        assertThat(unknown.output()).contains("--tabel", "--table");
        assertThat(noUrl.exitCode()).isEqualTo(2);
        assertThat(noUrl.output()).contains("--url");
        assertThat(badUrl.exitCode()).isEqualTo(2);
        assertThat(badUrl.output()).contains("jdbc:mysql").doesNotContain("\tat ");
    }

    @Test
    void aPasswordThatIsWrongIsNotShownAndADatabaseThatIsAwayIsNamed() throws Exception {
        try (var connection = Postgres.server().connect("postgres");
                var statement = connection.createStatement()) {
            // It has the password of the environment, so the only fault is the one that the arguments say.
            statement.execute("create role nobody_knows login password '"
                    + Postgres.server().password() + "'");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        Run refused = run(List.of(
                "migrate",
                "--url",
                Postgres.server().jdbcUrl("postgres"),
                "--user",
                "nobody_knows",
                "--password=" + SECRET));
        Run away = run(
                List.of("migrate", "--url", "jdbc:postgresql://127.0.0.1:1/x", "--user", "u", "--password=" + SECRET));

        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.output())
                .contains("password authentication failed", "nobody_knows")
                .doesNotContain(SECRET, "\tat ");
        assertThat(away.exitCode()).isEqualTo(1);
        assertThat(away.output()).contains("127.0.0.1:1").doesNotContain(SECRET, "\tat ");
    }

    @Test
    void parkedEventsAreListedShownSentAgainAndDiscardedAndTwicePressedIsOnceDone() throws Exception {
        Postgres.server().createDatabase("cli_parked");
        assertThat(migrate("cli_parked").exitCode()).isZero();
        try (var connection = Postgres.server().connect("cli_parked");
                var statement = connection.createStatement()) {
            statement.execute("""
                    insert into inbox_parked (consumer_group, handler, event_id, event_type, claims, state, topic, partition,
                                              record_offset, record_key, record_value, header_names, header_values, attempts, error)
                    select 'shipping', 'ship', 'event-' || i, 'order.placed', true, case i when 1 then 'dead' else 'behind' end,
                           'orders', 0, i, 'key', case i when 1 then '{"id":1}'::bytea else '\\xff00' end, array['h'::bytea],
                           array['v'::bytea], 20, case i when 1 then E'EJBException: x <- first line\nsecond line' end
                      from generate_series(1, 2) i""");

            assertThat(parked("list").output())
                    .contains("NUMBER\tSTATE\tTOPIC\tKEY\tTYPE\tHANDLER\tATTEMPTS\tPARKED\tERROR")
                    .containsPattern(
                            "1\tDEAD\torders\tkey\torder.placed\tship\t20\t20\\S+Z\tfirst line, in EJBException: x\n")
                    .containsPattern("2\tBEHIND\torders\tkey\torder.placed\tship\t20\t20\\S+Z\t-\n")
                    .doesNotContain("second line");
            assertThat(parked("list", "--group", "other").output()).isEqualTo("0 parked events\n");
            assertThat(parked("show", "1").output()).contains("second line", "{\"id\":1}", "h = v", "key:       key");
            assertThat(parked("show", "2").output()).contains("0xff00");
            assertThat(parked("show", "3").exitCode()).isEqualTo(1);
            assertThat(parked("retry", "1", "2", "--dry-run").output()).isEqualTo("1 would be retried\n");
            assertThat(parked("retry", "1", "2").output()).isEqualTo("1 retried\n");
            assertThat(parked("retry", "1").output()).isEqualTo("0 retried\n");
            assertThat(parked("discard", "1", "--dry-run").output()).isEqualTo("1 would be discarded\n");
            assertThat(parked("discard", "1").output()).isEqualTo("1 discarded\n");
            assertThat(parked("discard", "1").output()).isEqualTo("0 discarded\n");

            try (var rows = statement.executeQuery(
                    "select string_agg(event_id, ',') || ' ' || (select state from inbox_parked) "
                            + "from inbox_event")) {
                rows.next();
                assertThat(rows.getString(1)).isEqualTo("event-1 retry");
            }
        }
    }

    @Test
    void aSelectionChoosesByEachOfItsOptionsAndDoesNotTouchOthers() throws Exception {
        Postgres.server().createDatabase("cli_selected");
        assertThat(migrate("cli_selected").exitCode()).isZero();
        try (var connection = Postgres.server().connect("cli_selected");
                var statement = connection.createStatement()) {
            statement.execute("""
                    insert into inbox_parked (consumer_group, handler, event_id, event_type, claims, state, topic, partition,
                                              record_offset, record_key, record_value, header_names, header_values, attempts,
                                              error, parked_at)
                    select 'shipping', 'h' || i % 2, 'e' || i, 't' || i % 3, true, 'dead', 'topic' || i % 5, 0, i,
                           ('k' || i % 7)::bytea, '{}', array['h'::bytea], array['v'::bytea], 20,
                           case when i > 1090 then 'Time "out"' else 'Refused' end,
                           clock_timestamp() - i * interval '1 hour'
                      from generate_series(1, 1100) i""");

            assertThat(selected("list", "--limit", "2").output()).endsWith("1098 more, see --limit\n");
            assertThat(selected("list", "--error", "time \"OUT\"").output().lines())
                    .hasSize(11);
            assertThat(selected("list", "--since", "PT5H30M").output().lines()).hasSize(6);
            assertThat(selected(
                                    "list",
                                    "--since",
                                    "2000-01-01T00:00:00Z",
                                    "--topic",
                                    "topic1",
                                    "--key",
                                    "k1",
                                    "--type",
                                    "t1")
                            .output()
                            .lines())
                    .hasSize(1 + 1100 / 105 + 1);
            assertThat(selected("list", "--key", "never seen").output()).isEqualTo("0 parked events\n");
            assertThat(selected("list", "--error", "time", "--limit", "1", "--json")
                            .output())
                    .startsWith(
                            "{\"parked\":[{\"number\":1091,\"state\":\"DEAD\",\"group\":\"shipping\",\"topic\":\"topic1\",")
                    .contains("\"key\":\"k6\",\"type\":\"t2\",\"id\":\"e1091\",\"handler\":\"h1\",\"attempts\":20,")
                    .endsWith("\"error\":\"Time \\\"out\\\"\"}],\"more\":9}\n");
            assertThat(selected("show", "7", "--json").output())
                    .contains("\"headers\":[{\"name\":\"h\",\"value\":\"v\"}],\"valueBytes\":2,\"value\":\"{}\"");
            assertThat(selected("discard", "--handler", "h0", "--dry-run", "--json")
                            .output())
                    .isEqualTo("{\"discarded\":550,\"dryRun\":true}\n");
            assertThat(selected("discard", "--handler", "h0").output()).isEqualTo("550 discarded\n");
            assertThat(selected("retry", "--all", "--json").output()).isEqualTo("{\"retried\":550,\"dryRun\":false}\n");
            assertThat(selected("retry", "--all").output()).isEqualTo("0 retried\n");
            assertThat(selected("discard", "--topic", "other").output()).isEqualTo("0 discarded\n");
            assertThat(left(statement)).hasSize(550).contains("shipping h0 e2");

            Run status = runHere(connecting("cli_selected", "status"));
            assertThat(status.output())
                    .contains("schema version:  11\n", "parked:          550 RETRY of handler h1 in group shipping\n")
                    .containsPattern("inbox rows:      about \\d+\n")
                    .containsPattern("oldest parked:   20\\S+Z\n");
            assertThat(runHere(connecting("cli_selected", "status"), "--json").output())
                    .startsWith("{\"version\":\"11\",")
                    .contains("{\"group\":\"shipping\",\"handler\":\"h1\",\"state\":\"RETRY\",\"number\":550,");
        }
    }

    @Test
    void topicsAndHandlersOfEachGroupArePausedAndWhatCannotBeIsRefusedWithTheKnownNames() throws Exception {
        Postgres.server().createDatabase("cli_paused");
        assertThat(migrate("cli_paused").exitCode()).isZero();
        try (var connection = Postgres.server().connect("cli_paused");
                var statement = connection.createStatement()) {
            statement.execute("insert into inbox_handler (consumer_group, topic, event_type, handler, delivery) values "
                    + "('shipping', 'orders', 'placed', 'ship', 'exactly_once_effect'), "
                    + "('billing', 'orders', 'placed', 'bill', 'at_least_once'), "
                    + "('billing', 'signals', 'seen', 'count', 'at_most_once')");

            assertThat(paused("pause", "--topic", "orders").output().lines())
                    .hasSize(2)
                    .allMatch(line -> line.matches("topic \"orders\" of group \"(billing|shipping)\" is paused since "
                            + "20\\S+Z; running instances hold its partitions within a second"));
            assertThat(paused("pause", "--handler", "ship", "--handler", "bill").output())
                    .contains("handler \"ship\" of group \"shipping\" is paused since ", "park its events");
            assertThat(paused("pause", "--handler", "ship", "--json").output())
                    .startsWith("{\"topics\":[],\"handlers\":[{\"group\":\"shipping\",\"handler\":\"ship\",");
            Run unknown = paused("pause", "--handler", "ship", "--handler", "nobody", "--group", "billing");
            assertThat(unknown.exitCode()).isEqualTo(2);
            assertThat(unknown.output())
                    .isEqualTo("no handler \"ship\" of group \"billing\" is announced; correct the name, there are: "
                            + "bill (group billing), count (group billing)\n");
            assertThat(paused("pause", "--handler", "count").output())
                    .isEqualTo(
                            "handler \"count\" is called at most once, so nothing can be parked for it: pause its topic "
                                    + "\"signals\"\n");
            assertThat(paused("pause").output()).isEqualTo("Nothing is selected: give --topic or --handler\n");
            assertThat(paused("pause", "--topic", "a/b").exitCode()).isEqualTo(2);

            assertThat(paused("resume", "--topic", "orders", "--group", "billing")
                            .output())
                    .isEqualTo("topic \"orders\" is resumed\n");
            try (var rows =
                    statement.executeQuery("select string_agg(consumer_group || ' ' || what || ' ' || name, ', ' "
                            + "order by consumer_group, what) from inbox_paused")) {
                rows.next();
                assertThat(rows.getString(1))
                        .isEqualTo("billing handler bill, shipping handler ship, shipping topic orders");
            }
            statement.execute("drop table inbox_paused");
            Run tooOld = paused("pause", "--topic", "orders");
            assertThat(tooOld.exitCode()).isEqualTo(1);
            assertThat(tooOld.output()).contains("there is no table \"inbox_paused\": run", "migrate");
        }
    }

    private static Run paused(String command, String... arguments) {
        return runHere(connecting("cli_paused", command), arguments);
    }

    private static Run selected(String command, String... arguments) {
        return runHere(connecting("cli_selected", "parked", command), arguments);
    }

    @Test
    void moreThanABatchIsRetriedAndDiscarded() throws Exception {
        Postgres.server().createDatabase("cli_many");
        assertThat(migrate("cli_many").exitCode()).isZero();
        try (var connection = Postgres.server().connect("cli_many");
                var statement = connection.createStatement()) {
            statement.execute("""
                    insert into inbox_parked (consumer_group, handler, event_id, claims, state, topic, partition,
                                              record_offset, header_names, header_values, attempts)
                    select 'g', 'h', 'e' || i, true, 'dead', 't', 0, i, '{}', '{}', 20 from generate_series(1, 2500) i""");

            assertThat(runHere(connecting("cli_many", "parked", "retry"), "--all")
                            .output())
                    .isEqualTo("2500 retried\n");
            assertThat(runHere(connecting("cli_many", "parked", "discard"), "--all")
                            .output())
                    .isEqualTo("2500 discarded\n");
        }
    }

    @Test
    void forgetTakesTheHandlerAndRangeItIsToldToAndAsksBeforeIt() throws Exception {
        Postgres.server().createDatabase("cli_forget");
        assertThat(migrate("cli_forget").exitCode()).isZero();
        try (var connection = Postgres.server().connect("cli_forget");
                var statement = connection.createStatement()) {
            statement.execute("""
                    insert into inbox_event (consumer_group, handler, event_id, handled_at)
                    select g, h, 'e-' || i, timestamptz '2026-11-01T00:00:00Z' + i * interval '1 hour'
                      from unnest(array['shipping', 'shipping', 'billing'], array['ship', 'tell', 'tell']) t (g, h),
                           generate_series(1, 10) i""");

            Run unknown = forget("--handler", "sihp");
            assertThat(unknown.exitCode()).isEqualTo(2);
            assertThat(unknown.output())
                    .contains("No handler \"sihp\" has events in \"inbox_event\"; there are tell (group billing), "
                            + "ship (group shipping), tell (group shipping)");
            assertThat(forget("--handler", "tell").output())
                    .contains(
                            "Several groups have a handler \"tell\", say which by --group: tell (group billing), tell (group shipping)");
            assertThat(forget("--handler", "ship", "--ids", "e-1", "--from", "2026-11-01T00:00:00Z")
                            .output())
                    .contains("by their ids or by time");
            assertThat(forget("--handler", "ship", "--from", "2026-11-02T00:00:00Z", "--to", "2026-11-01T00:00:00Z")
                            .output())
                    .contains("from 2026-11-02T00:00:00Z is not before 2026-11-01T00:00:00Z");
            assertThat(forget("--handler", "ship", "--from", "yesterday").output())
                    .contains("yesterday", "--from", "2026-11-29T12:00:00Z");

            String[] range = {"--handler", "ship", "--from", "2026-11-01T03:00:00Z", "--to", "2026-11-01T06:00+01:00"};
            assertThat(forget(append(range, "--dry-run")).output()).contains("Would forget 2 event(s) of handler ship");
            Run notConfirmed = forget(range);
            assertThat(notConfirmed.exitCode()).isEqualTo(1);
            assertThat(notConfirmed.output()).contains("Forget 2 event(s)", "[y/N]", "Nothing was forgotten");
            assertThat(left(statement)).hasSize(30);

            assertThat(forget(append(range, "--yes")).output())
                    .contains(
                            "Forgot 2 event(s) of handler ship in group shipping, handled at 2026-11-01T03:00Z or later "
                                    + "and before 2026-11-01T06:00+01:00");
            assertThat(left(statement)).hasSize(28).doesNotContain("shipping ship e-3", "shipping ship e-4");
            assertThat(forget("--group", "billing", "--handler", "tell", "--ids", "e-1,e-9,e-99", "--yes")
                            .output())
                    .contains("Forgot 2 event(s) of handler tell in group billing, of the 3 given");
            assertThat(left(statement)).hasSize(26).doesNotContain("billing tell e-1", "billing tell e-9");
        }
    }

    private static List<String> left(java.sql.Statement statement) throws SQLException {
        try (var rows =
                statement.executeQuery("select consumer_group || ' ' || handler || ' ' || event_id from inbox_event")) {
            List<String> left = new ArrayList<>();
            while (rows.next()) {
                left.add(rows.getString(1));
            }
            return left;
        }
    }

    private static String[] append(String[] arguments, String last) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.add(last);
        return all.toArray(String[]::new);
    }

    private static Run forget(String... arguments) {
        return runHere(connecting("cli_forget", "forget"), arguments);
    }

    private static Run parked(String command, String... arguments) {
        return runHere(connecting("cli_parked", "parked", command), arguments);
    }

    private static List<String> connecting(String database, String... command) {
        List<String> arguments = new ArrayList<>(List.of(command));
        arguments.addAll(List.of(
                "--url",
                Postgres.server().jdbcUrl(database),
                "--user",
                Postgres.server().user(),
                "--password=" + Postgres.server().password()));
        return arguments;
    }

    /** In this process: many runs, of which none needs the jar. */
    private static Run runHere(List<String> connecting, String... arguments) {
        List<String> all = new ArrayList<>(connecting);
        all.addAll(List.of(arguments));
        InputStream input = System.in;
        StringWriter output = new StringWriter();
        try {
            System.setIn(InputStream.nullInputStream());
            PrintWriter out = new PrintWriter(output, true);
            int exitCode =
                    new CommandLine(new InboxCli()).setOut(out).setErr(out).execute(all.toArray(String[]::new));
            return new Run(exitCode, output.toString());
        } finally {
            System.setIn(input);
        }
    }

    private static Run migrate(String database, String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(
                "migrate",
                "--url",
                Postgres.server().jdbcUrl(database),
                "--user",
                Postgres.server().user()));
        arguments.addAll(List.of(options));
        return run(arguments);
    }

    /** With the right password in the environment, where arguments do not say another one. */
    static Run run(List<String> arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-jar",
                System.getProperty("twinbox.it.cliJar")));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment()
                .put("TWINBOX_INBOX_DATABASE_PASSWORD", Postgres.server().password());
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        return new Run(process.exitValue(), output);
    }
}
