package dev.twinbox.inbox.cli;

import dev.twinbox.SchemaException;
import dev.twinbox.inbox.jdbc.InboxSchema;
import dev.twinbox.schema.SchemaMigration;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Creates the inbox tables or brings them up to date. */
@Command(
        name = "migrate",
        mixinStandardHelpOptions = true,
        description = "Creates the inbox tables, or brings them to the version this receiver needs.")
final class MigrateCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private Tables tables;

    @Option(
            names = "--print",
            arity = "0..1",
            fallbackValue = "0",
            paramLabel = "VERSION",
            description = "Prints the SQL instead of running it, for those who keep it in migrations of their own. "
                    + "With a version: only what is later than the tables of that version. Needs no --url.")
    private @Nullable Integer printAfter;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        try {
            if (printAfter != null) {
                out.print(new InboxSchema(tables.inbox()).script(printAfter));
                out.flush();
                return CommandLine.ExitCode.OK;
            }
            SchemaMigration.Result result = new InboxSchema(tables.inbox()).migrate(tables.dataSource());
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
