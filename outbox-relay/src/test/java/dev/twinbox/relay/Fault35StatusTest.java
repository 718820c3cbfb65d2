package dev.twinbox.relay;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.config.ExitCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The database did not answer, and {@code status} said that it had refused: "check url, user and password". */
class Fault35StatusTest {
    @TempDir
    private Path folder;

    @Test
    void aDatabaseThatDoesNotAnswerIsATimeoutAndTheKeyIsNamed() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String error = status(silent.getLocalPort(), "?connectTimeout=1&loginTimeout=1");
            assertThat(error)
                    .contains("did not answer in time", "raise connectTimeout and loginTimeout")
                    .contains("in twinbox.relay.database.url")
                    .doesNotContain("refused", "password");
        }
    }

    @Test
    void aDatabaseThatDoesNotRunIsNotSaidToRefuseTheLogin() throws IOException {
        int port;
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = closed.getLocalPort();
        }
        assertThat(status(port, ""))
                .contains("cannot be reached", "check host and port in twinbox.relay.database.url")
                .doesNotContain("password");
    }

    private String status(int port, String parameters) throws IOException {
        Path file = folder.resolve("relay.properties");
        Files.writeString(
                file,
                "twinbox.relay.database.url=jdbc:postgresql://127.0.0.1:" + port + "/shop" + parameters
                        + "\ntwinbox.relay.kafka.bootstrap.servers=127.0.0.1:1\n",
                UTF_8);
        StringWriter err = new StringWriter();
        CommandLine line = RelayMain.commandLine();
        line.setErr(new PrintWriter(err, true));
        assertThat(line.execute("status", "--config", file.toString())).isEqualTo(ExitCode.DATABASE.number());
        return err.toString();
    }
}
