package dev.twinbox.inbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** A dollar sign in the password of the environment is a dollar sign. */
class Fault32PasswordTest {
    @Command
    private static final class Any {
        @Mixin
        private final Tables tables =
                new Tables(Map.of("TWINBOX_INBOX_DATABASE_PASSWORD", "from ${sys:user.home} and pa$$w0rd"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"pa$$w0rd", "${sys:user.home}", "$"})
    void aPasswordIsReadAsItIs(String password) {
        Any given = new Any();
        new CommandLine(given).parseArgs("--url", "jdbc:postgresql://x/y", "--password=" + password);
        assertThat(given.tables.dataSource().getPassword()).isEqualTo(password);
        Any ofEnvironment = new Any();
        new CommandLine(ofEnvironment).parseArgs("--url", "jdbc:postgresql://x/y");
        assertThat(ofEnvironment.tables.dataSource().getPassword()).isEqualTo("from ${sys:user.home} and pa$$w0rd");
    }
}
