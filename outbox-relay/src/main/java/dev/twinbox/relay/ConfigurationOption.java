package dev.twinbox.relay;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** Where a command takes its configuration from. */
final class ConfigurationOption {
    @Option(
            names = "--config",
            paramLabel = "FILE",
            scope = CommandLine.ScopeType.INHERIT, // so that it may stand behind a subcommand
            description = "Properties in UTF-8. Environment variables and system properties win over it; "
                    + "all keys: docs/configuration.md.")
    private @Nullable Path file;

    RelayConfig read() {
        return ConfigurationReader.read(file);
    }
}
