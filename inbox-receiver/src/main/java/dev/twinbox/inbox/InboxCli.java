package dev.twinbox.inbox;

import dev.twinbox.SchemaException;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.schema.SchemaMigration;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Command line of the receiver: {@code java -jar inbox-receiver-cli.jar migrate|parked|forget …}. */
@Command(
        name = "inbox-receiver-cli",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        description = "Looks after the inbox tables of a receiving application.",
        subcommands = {InboxCli.Migrate.class, InboxCli.Parked.class, ForgetCommand.class})
final class InboxCli implements Runnable {

    @Spec
    private CommandSpec spec;

    public static void main(String[] arguments) {
        System.exit(execute(arguments));
    }

    /** Returns the exit code: 0 done, 1 failed, 2 wrong arguments. */
    static int execute(String... arguments) {
        return new CommandLine(new InboxCli()).execute(arguments);
    }

    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "Missing command: migrate, parked or forget");
    }

    /** Where the tables are. */
    static final class Tables {

        @Option(names = "--url", required = true, description = "jdbc:postgresql://host:port/database")
        private String url;

        @Option(names = "--user", description = "Default: the URL's, or the system user.")
        private @Nullable String user;

        @Option(
                names = "--password",
                arity = "0..1",
                interactive = true,
                defaultValue = "${env:TWINBOX_INBOX_DATABASE_PASSWORD}",
                description = "Asked for when given without a value; default: environment variable "
                        + "TWINBOX_INBOX_DATABASE_PASSWORD, then the file of passwords that PostgreSQL's tools use.")
        private @Nullable String password;

        @Option(
                names = "--schema",
                description = "Value of twinbox.inbox.schema; default: the first of the search_path.")
        private @Nullable String schema;

        @Option(
                names = "--table",
                defaultValue = "inbox_event",
                description = "Value of twinbox.inbox.table; default: ${DEFAULT-VALUE}.")
        private String table;

        @Option(
                names = "--parked-table",
                defaultValue = "inbox_parked",
                description = "Value of twinbox.inbox.parked-table; default: ${DEFAULT-VALUE}.")
        private String parkedTable;

        SqlIdentifier inbox() {
            return new SqlIdentifier(schema, table);
        }

        SqlIdentifier parked() {
            return new SqlIdentifier(schema, parkedTable);
        }

        PGSimpleDataSource dataSource() {
            PGSimpleDataSource dataSource = new PGSimpleDataSource();
            dataSource.setUrl(url); // an IllegalArgumentException says what a URL has to look like
            if (user != null) {
                dataSource.setUser(user);
            }
            if (password != null) {
                dataSource.setPassword(password);
            }
            return dataSource;
        }
    }

    /** Creates the inbox tables or brings them up to date. */
    @Command(
            name = "migrate",
            mixinStandardHelpOptions = true,
            description = "Creates the inbox tables, or brings them to the version this receiver needs.")
    static final class Migrate implements Callable<Integer> {

        @Spec
        private CommandSpec spec;

        @Mixin
        private Tables tables;

        @Override
        public Integer call() {
            PrintWriter out = spec.commandLine().getOut();
            PrintWriter err = spec.commandLine().getErr();
            try {
                SchemaMigration.Result result =
                        InboxTable.migrate(tables.dataSource(), tables.inbox(), tables.parked());
                out.println("Inbox table " + tables.inbox() + " is at version " + result.version() + "; applied "
                        + result.applied() + " migration(s).");
                return CommandLine.ExitCode.OK;
            } catch (IllegalArgumentException e) {
                err.println(e.getMessage());
                return CommandLine.ExitCode.USAGE;
            } catch (SchemaException e) {
                err.println(e.getMessage());
                return CommandLine.ExitCode.SOFTWARE;
            }
        }
    }

    /** What could not be handled. It changes rows; the running application acts. */
    @Command(
            name = "parked",
            mixinStandardHelpOptions = true,
            synopsisSubcommandLabel = "COMMAND",
            description = "Shows events that could not be handled; has them tried again, or gives them up.",
            subcommands = {
                InboxCli.ListParked.class,
                InboxCli.ShowParked.class,
                InboxCli.Redrive.class,
                InboxCli.Discard.class
            })
    static final class Parked implements Runnable {

        @Spec
        private CommandSpec spec;

        @Override
        public void run() {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "Missing command: list, show, redrive or discard");
        }
    }

    /** What the commands about parked events have in common. */
    abstract static class OnParked implements Callable<Integer> {

        @Spec
        private CommandSpec spec;

        @Mixin
        private Tables tables;

        @Override
        public Integer call() {
            PrintWriter err = spec.commandLine().getErr();
            try (Connection connection = tables.dataSource().getConnection()) {
                ParkedTable parked = new ParkedTable(tables.inbox(), tables.parked());
                return run(connection, parked, spec.commandLine().getOut());
            } catch (IllegalArgumentException e) {
                err.println(e.getMessage());
                return CommandLine.ExitCode.USAGE;
            } catch (SQLException e) {
                err.println("Table " + tables.parked() + " can not be used: " + e.getMessage());
                return CommandLine.ExitCode.SOFTWARE;
            }
        }

        /** Each statement is a transaction. */
        abstract int run(Connection connection, ParkedTable parked, PrintWriter out) throws SQLException;
    }

    /** One line for each. */
    @Command(name = "list", mixinStandardHelpOptions = true, description = "Lists parked events, one a line.")
    static final class ListParked extends OnParked {

        private static final int PAGE = 100;

        @Option(names = "--group", description = "Consumer group; default: all of them.")
        private @Nullable String group;

        @Override
        int run(Connection connection, ParkedTable parked, PrintWriter out) throws SQLException {
            long after = 0;
            for (List<ParkedEvent> page = parked.list(connection, group, after, PAGE);
                    !page.isEmpty();
                    page = parked.list(connection, group, after, PAGE)) {
                page.forEach(event -> out.println(line(event)));
                out.flush();
                after = page.get(page.size() - 1).number();
            }
            return CommandLine.ExitCode.OK;
        }

        private static String line(ParkedEvent event) {
            String error = event.error();
            return event.number() + "\t" + event.state() + "\t" + event.group() + "\t"
                    + (event.handler() == null ? "-" : event.handler()) + "\t" + event.coordinates() + "\t"
                    + (event.eventId() == null ? "-" : event.eventId()) + "\t" + event.attempts() + " attempts\t"
                    + (error == null ? "-" : error.lines().findFirst().orElse(""));
        }
    }

    /** All of one. */
    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description = "Shows all that is known of a parked event; bytes that are not UTF-8 in hexadecimal digits.")
    static final class ShowParked extends OnParked {

        @Parameters(paramLabel = "NUMBER", description = "As listed.")
        private long number;

        @Override
        int run(Connection connection, ParkedTable parked, PrintWriter out) throws SQLException {
            Optional<ParkedEvent> event = parked.find(connection, number);
            event.ifPresentOrElse(found -> print(found, out), () -> out.println("No parked event " + number));
            return event.isPresent() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
        }

        private static void print(ParkedEvent event, PrintWriter out) {
            out.println("number:    " + event.number());
            out.println("state:     " + event.state());
            out.println("group:     " + event.group());
            out.println("handler:   " + event.handler());
            out.println("event id:  " + event.eventId());
            out.println("type:      " + event.eventType());
            out.println("record:    " + event.coordinates() + " of " + event.time());
            out.println("parked at: " + event.parkedAt());
            out.println("attempts:  " + event.attempts() + ", the last failed at " + event.failedAt());
            out.println("next try:  " + event.nextTryAt());
            out.println("error:     " + event.error());
            event.headers()
                    .forEach(header -> out.println("header:    " + header.name() + " = " + text(header.value())));
            out.println("key:       " + text(event.key()));
            out.println("value:     " + text(event.value()));
        }

        private static String text(byte @Nullable [] bytes) {
            if (bytes == null) {
                return "null";
            }
            try {
                return StandardCharsets.UTF_8
                        .newDecoder()
                        .decode(ByteBuffer.wrap(bytes))
                        .toString();
            } catch (CharacterCodingException e) {
                return "0x" + HexFormat.of().formatHex(bytes);
            }
        }
    }

    /** Tries them again. */
    @Command(
            name = "redrive",
            mixinStandardHelpOptions = true,
            description =
                    "Has events tried again at once by the running application; those behind them follow in order.")
    static final class Redrive extends OnParked {

        @Parameters(arity = "1..*", paramLabel = "NUMBER", description = "As listed.")
        private List<Long> numbers;

        @Override
        int run(Connection connection, ParkedTable parked, PrintWriter out) throws SQLException {
            for (long number : numbers) {
                out.println(number + (parked.redrive(connection, number) ? " is due" : " needs nothing"));
            }
            return CommandLine.ExitCode.OK;
        }
    }

    /** Gives them up. */
    @Command(
            name = "discard",
            mixinStandardHelpOptions = true,
            description = "Gives events up: they count as handled, and those behind them go on.")
    static final class Discard extends OnParked {

        @Parameters(arity = "1..*", paramLabel = "NUMBER", description = "As listed.")
        private List<Long> numbers;

        @Override
        int run(Connection connection, ParkedTable parked, PrintWriter out) throws SQLException {
            for (long number : numbers) {
                ParkedTable.Discarded discarded = parked.discard(connection, number);
                if (discarded.line() != null) {
                    parked.promote(connection, discarded.line());
                }
                out.println(number + (discarded.isDone() ? " is discarded" : " is not there"));
            }
            return CommandLine.ExitCode.OK;
        }
    }
}
