package dev.twinbox.inbox.cli;

import dev.twinbox.SchemaException;
import dev.twinbox.inbox.jdbc.InboxSchema;
import dev.twinbox.schema.SchemaMigration;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
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

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        try {
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
