package dev.twinbox.relay;

import dev.twinbox.SchemaException;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.engine.Waiter;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.StartCheck;
import dev.twinbox.relay.kafka.PositionTopic;
import dev.twinbox.relay.kafka.Topics;
import dev.twinbox.relay.log.Logging;
import dev.twinbox.schema.OutboxSchema;
import dev.twinbox.schema.Retention;
import dev.twinbox.schema.SchemaMigration;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Creates the outbox tables or brings them up to date. */
@Command(
        name = "migrate",
        description = "Creates the outbox tables, or brings them up to date; repeating it changes nothing. "
                + "Needs a role that may create them, which the running relay does not. Waits up to a minute for a "
                + "database or a Kafka that does not answer.")
final class MigrateCommand implements Callable<Integer> {
    private static final Logger LOG = LoggerFactory.getLogger(MigrateCommand.class);

    /** Whoever starts a database or Kafka beside this command need not know how long these take. */
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @Mixin
    private ConfigurationOption configuration;

    @Option(
            names = "--print",
            arity = "0..1",
            fallbackValue = "0",
            paramLabel = "VERSION",
            description = "Prints the SQL instead of running it, for those who keep it in migrations of their own. "
                    + "With a version: only what is later than the tables of that version.")
    private @Nullable Integer printAfter;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        RelayConfig config = configuration.read();
        OutboxSchema tables = config.tables();
        if (printAfter != null) {
            spec.commandLine().getOut().print(tables.script(printAfter, config.retention()));
            spec.commandLine().getOut().flush();
            return ExitCode.OK.number();
        }
        Logging.configure(config);
        awaitDatabase(config);
        try {
            SchemaMigration.Result result = tables.migrate(OutboxDatabase.dataSource(config));
            say(result, tables);
            retain(config);
            createPositionTopic(config);
            return ExitCode.OK.number();
        } catch (SchemaException e) {
            throw new RelayException(ExitCode.SCHEMA, String.valueOf(e.getMessage()), e);
        }
    }

    /** @throws RelayException if the database refuses, or has not answered until now */
    private static void awaitDatabase(RelayConfig config) {
        Waiter waiter = new Waiter(config.idle());
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        for (SQLException failure = connect(config); failure != null; failure = connect(config)) {
            if (OutboxDatabase.isRefusal(failure) || System.nanoTime() - deadline >= 0) {
                throw StartCheck.refusal(config, failure);
            }
            LOG.warn("The database does not answer, trying again: {}", failure.getMessage());
            try {
                waiter.await(config.retry());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw StartCheck.refusal(config, failure);
            }
        }
    }

    /** Why it cannot be connected to; null if it can. */
    private static @Nullable SQLException connect(RelayConfig config) {
        try (Connection connection = OutboxDatabase.dataSource(config).getConnection()) {
            return null;
        } catch (SQLException e) {
            return e;
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

    private void createPositionTopic(RelayConfig config) {
        if (config.delivery().mode() != DeliveryMode.EXACTLY_ONCE) {
            return;
        }
        String topic = config.delivery().positionTopic();
        try {
            String done = createAwaiting(config) ? "created" : "is there already";
            spec.commandLine().getOut().println("topic " + topic + ": " + done);
        } catch (KafkaException e) {
            throw new RelayException(
                    ExitCode.DELIVERY,
                    "the tables are migrated, but topic \"" + topic + "\" can not be created by way of "
                            + config.kafka().bootstrapServers() + ": " + e.getMessage()
                            + ". Run migrate again, or have it created with 2 partitions",
                    e);
        }
    }

    /** @throws KafkaException if Kafka refuses, or has not answered until now */
    private static boolean createAwaiting(RelayConfig config) {
        Waiter waiter = new Waiter(config.idle());
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                return PositionTopic.create(config);
            } catch (KafkaException e) {
                if (!Topics.isSilence(e) || System.nanoTime() - deadline >= 0) {
                    throw e;
                }
                LOG.warn("Kafka does not answer, trying again: {}", e.getMessage());
                try {
                    waiter.await(config.retry());
                } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                    throw e;
                }
            }
        }
    }

    private void say(SchemaMigration.Result result, OutboxSchema tables) {
        String done = result.applied() == 0
                ? "nothing to do, the tables have version "
                : result.applied() + " step(s) applied, the tables now have version ";
        spec.commandLine().getOut().println(tables.events() + ": " + done + result.version());
    }
}
