package dev.twinbox.relay;

import dev.twinbox.SchemaException;
import dev.twinbox.schema.OutboxSchema;
import dev.twinbox.schema.Retention;
import dev.twinbox.schema.SchemaMigration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Creates the outbox tables or brings them up to date. */
@Command(
        name = "migrate",
        description = "Creates the outbox tables, or brings them up to date; repeating it changes nothing. "
                + "Needs a role that may create them, which the running relay does not.")
final class MigrateCommand implements Callable<Integer> {
    @Mixin
    private ConfigurationOption configuration;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        RelayConfig config = configuration.read();
        Logging.configure(config.logLevel());
        OutboxSchema tables = config.tables();
        try {
            SchemaMigration.Result result = tables.migrate(OutboxDatabase.dataSource(config));
            say(result, tables);
            retain(config);
            return ExitCode.OK.number();
        } catch (SchemaException e) {
            throw new RelayException(ExitCode.SCHEMA, String.valueOf(e.getMessage()), e);
        }
    }

    private void retain(RelayConfig config) {
        Retention wanted = config.retention();
        if (wanted == null) {
            return;
        }
        Retention before = config.tables().retain(OutboxDatabase.dataSource(config), wanted);
        String change =
                wanted.equals(before) ? " as before" : " instead of " + (before == null ? "its own rule" : before);
        spec.commandLine().getOut().println(config.tables().events() + ": slots of " + wanted + change);
    }

    private void say(SchemaMigration.Result result, OutboxSchema tables) {
        String done = result.applied() == 0
                ? "nothing to do, the tables have version "
                : result.applied() + " step(s) applied, the tables now have version ";
        spec.commandLine().getOut().println(tables.events() + ": " + done + result.version());
    }
}
