package dev.twinbox.proof.servers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.proof.appserver.Product;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The documentation shows the very files that the servers are set up with. */
class ConfigurationFilesTest {

    private static final Path PAGE = Path.of(System.getProperty("twinbox.root"), "docs/how-to/application-servers.md");

    @ParameterizedTest
    @ValueSource(
            strings = {
                "wildfly.cli",
                "wildfly-tracing.cli",
                "liberty-server.xml",
                "liberty-telemetry.xml",
                "glassfish.asadmin",
                "payara-local.asadmin"
            })
    void theDocumentationShowsTheFileOfTheTest(String file) throws IOException {
        try (InputStream in = Product.class.getResourceAsStream(file)) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
            assertThat(Files.readString(PAGE)).contains("\n" + text + "\n```\n");
        }
    }
}
