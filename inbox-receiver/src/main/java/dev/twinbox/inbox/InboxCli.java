package dev.twinbox.inbox;

import dev.twinbox.SchemaException;
import dev.twinbox.schema.SchemaMigration;
import dev.twinbox.schema.SqlIdentifier;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Command line of the receiver: {@code java -jar inbox-receiver-cli.jar migrate …}. */
@Command(
        name = "inbox-receiver-cli",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        description = "Looks after the inbox table of a receiving application.",
        subcommands = InboxCli.Migrate.class)
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
        throw new CommandLine.ParameterException(spec.commandLine(), "Missing command: migrate");
    }

    /** Creates the inbox table or brings it up to date. */
    @Command(
            name = "migrate",
            mixinStandardHelpOptions = true,
            description = "Creates the inbox table, or brings it to the version this receiver needs.")
    static final class Migrate implements Callable<Integer> {

        @Spec
        private CommandSpec spec;

        @Option(names = "--url", required = true, description = "jdbc:postgresql://host:port/database")
        private String url;

        @Option(names = "--user", description = "Owner of the table to be; default: the URL's, or the system user.")
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

        @Override
        public Integer call() {
            PrintWriter out = spec.commandLine().getOut();
            PrintWriter err = spec.commandLine().getErr();
            try {
                SqlIdentifier name = new SqlIdentifier(schema, table);
                SchemaMigration.Result result = InboxTable.migrate(dataSource(), name);
                out.println("Inbox table " + name + " is at version " + result.version() + "; applied "
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

        private PGSimpleDataSource dataSource() {
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
}
