package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The command line as its users have it: the executable jar in a JVM of its own. */
class InboxCliIT {

    /** Nothing of a run may show it. */
    private static final String SECRET = "s3cr3t-marker";

    /** What a run left behind. */
    private record Run(int exitCode, String output) {}

    @Test
    void migrateCreatesTheTableOnceUnderTheNamesItWasGiven() throws Exception {
        Servers.postgres().createDatabase("cli");

        Run first = migrate("cli", "--schema", "Sales-EU 1", "--table", "In\"Box");
        Run second = migrate("cli", "--schema", "Sales-EU 1", "--table", "In\"Box");

        assertThat(first.exitCode()).as(first.output()).isZero();
        assertThat(second.exitCode()).as(second.output()).isZero();
        assertThat(second.output()).contains("\"Sales-EU 1\".\"In\"\"Box\"", "applied 0 migration(s)");
        try (var connection = Servers.postgres().connect("cli");
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
        assertThat(noCommand.output()).contains("Missing command", "Usage: inbox-receiver-cli");
        assertThat(unknown.exitCode()).isEqualTo(2);
        assertThat(unknown.output()).contains("--tabel", "--table");
        assertThat(noUrl.exitCode()).isEqualTo(2);
        assertThat(noUrl.output()).contains("--url");
        assertThat(badUrl.exitCode()).isEqualTo(2);
        assertThat(badUrl.output()).contains("jdbc:mysql").doesNotContain("\tat ");
    }

    @Test
    void aPasswordThatIsWrongIsNotShownAndADatabaseThatIsAwayIsNamed() throws Exception {
        try (var connection = Servers.postgres().connect("postgres");
                var statement = connection.createStatement()) {
            statement.execute("create role nobody_knows nologin");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        Run refused = run(List.of(
                "migrate",
                "--url",
                Servers.postgres().jdbcUrl("postgres"),
                "--user",
                "nobody_knows",
                "--password=" + SECRET));
        Run away = run(
                List.of("migrate", "--url", "jdbc:postgresql://127.0.0.1:1/x", "--user", "u", "--password=" + SECRET));

        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.output()).contains("nobody_knows").doesNotContain(SECRET, "\tat ");
        assertThat(away.exitCode()).isEqualTo(1);
        assertThat(away.output()).contains("127.0.0.1:1").doesNotContain(SECRET, "\tat ");
    }

    @Test
    void parkedEventsAreListedShownSentAgainAndDiscardedAndTwicePressedIsOnceDone() throws Exception {
        Servers.postgres().createDatabase("cli_parked");
        assertThat(migrate("cli_parked").exitCode()).isZero();
        try (var connection = Servers.postgres().connect("cli_parked");
                var statement = connection.createStatement()) {
            statement.execute("""
                    insert into inbox_parked (consumer_group, handler, event_id, event_type, claims, state, topic, partition,
                                              record_offset, record_key, record_value, header_names, header_values, attempts, error)
                    select 'shipping', 'ship', 'event-' || i, 'order.placed', true, case i when 1 then 'dead' else 'behind' end,
                           'orders', 0, i, 'key', case i when 1 then '{"id":1}'::bytea else '\\xff00' end, array['h'::bytea],
                           array['v'::bytea], 20, case i when 1 then E'first line\nsecond line' end
                      from generate_series(1, 2) i""");

            assertThat(parked("list").output())
                    .contains("1\tDEAD\tshipping\tship\torders-0@1\tevent-1\t20 attempts\tfirst line")
                    .contains("2\tBEHIND\tshipping\tship\torders-0@2\tevent-2")
                    .doesNotContain("second line");
            assertThat(parked("list", "--group", "other").output()).doesNotContain("event-1");
            assertThat(parked("show", "1").output()).contains("second line", "{\"id\":1}", "h = v", "key:       key");
            assertThat(parked("show", "2").output()).contains("0xff00");
            assertThat(parked("show", "3").exitCode()).isEqualTo(1);
            assertThat(parked("redrive", "1", "2").output()).contains("1 is due", "2 needs nothing");
            assertThat(parked("redrive", "1").output()).contains("1 needs nothing");
            assertThat(parked("discard", "1").output()).contains("1 is discarded");
            assertThat(parked("discard", "1").output()).contains("1 is not there");

            try (var rows = statement.executeQuery(
                    "select string_agg(event_id, ',') || ' ' || (select state from inbox_parked) "
                            + "from inbox_event")) {
                rows.next();
                assertThat(rows.getString(1)).isEqualTo("event-1 retry");
            }
        }
    }

    private static Run parked(String command, String... arguments) throws Exception {
        List<String> all = new ArrayList<>(List.of(
                "parked",
                command,
                "--url",
                Servers.postgres().jdbcUrl("cli_parked"),
                "--user",
                Servers.postgres().user()));
        all.addAll(List.of(arguments));
        return run(all);
    }

    private static Run migrate(String database, String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(
                "migrate",
                "--url",
                Servers.postgres().jdbcUrl(database),
                "--user",
                Servers.postgres().user()));
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
                .put("TWINBOX_INBOX_DATABASE_PASSWORD", Servers.postgres().password());
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Run(process.exitValue(), output);
    }
}
