package dev.twinbox.relay;

import dev.twinbox.relay.config.ConfigurationReader;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.StartCheck;
import dev.twinbox.relay.log.Logging;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** Where a command takes its configuration from, and how it gets to the database that this names. */
final class ConfigurationOption {
    @Option(
            names = "--config",
            paramLabel = "FILE",
            scope = CommandLine.ScopeType.INHERIT, // so that it may stand behind a subcommand
            description = "Properties in UTF-8. Environment variables and system properties win over it; "
                    + "all keys: docs/reference/configuration.md.")
    private @Nullable Path file;

    /** What a command does with the database; returns what {@link ExitCode} says of it. */
    interface Work {
        ExitCode on(Connection connection, RelayConfig config) throws SQLException;
    }

    RelayConfig read() {
        return ConfigurationReader.read(file);
    }

    /**
     * Reads the configuration, connects and works.
     *
     * @return the number of the exit code
     * @throws RelayException in words, if the configuration is wrong or the database refuses
     */
    int onDatabase(Work work) {
        RelayConfig config = read();
        Logging.configure(config);
        return onDatabase(config, work);
    }

    /** As {@link #onDatabase}; the log goes to the error output, since the command prints JSON on standard output. */
    int onDatabaseForJson(Work work) {
        RelayConfig config = read();
        Logging.configureOnErrorOutput(config);
        return onDatabase(config, work);
    }

    private static int onDatabase(RelayConfig config, Work work) {
        try (Connection connection = new OutboxDatabase(config).connect()) {
            return work.on(connection, config).number();
        } catch (SQLException e) {
            throw StartCheck.refusal(config, e);
        }
    }
}
