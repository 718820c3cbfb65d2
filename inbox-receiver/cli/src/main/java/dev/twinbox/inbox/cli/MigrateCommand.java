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
            names = "--finish",
            description = {
                "Ends an upgrade of existing tables: source and id identify an event from now on.",
                "Only when every instance of the application runs this version."
            })
    private boolean isToFinish;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        try {
            InboxSchema schema = new InboxSchema(tables.inbox());
            SchemaMigration.Result result = schema.migrate(tables.dataSource());
            out.println("Inbox table " + tables.inbox() + " is at version " + result.version() + "; applied "
                    + result.applied() + " migration(s).");
            if (isToFinish) {
                boolean isChanged = schema.finish(tables.dataSource());
                out.println(
                        isChanged
                                ? "Source and id identify an event from now on."
                                : "Source and id identified an event already.");
            } else if (!schema.isFinished(tables.dataSource())) {
                out.println("Events of two sources with one id still count as one. "
                        + "When every instance runs this version, run migrate --finish.");
            }
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
