package dev.twinbox.proof.release;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Applications bring what writes and what receives, and nothing of what operators run. */
class WarContentsIT {
    private static final Path ROOT = Path.of(System.getProperty("twinbox.root"));

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sample-app/orders/target/orders.war",
                "sample-app/shipping/target/shipping.war",
                "sample-app/proof/crash/target/crash.war"
            })
    void aWARHasNothingOfConsoleRelayAndCommandLine(String war) throws IOException {
        List<String> entries;
        try (ZipFile file = new ZipFile(ROOT.resolve(war).toFile())) {
            entries = file.stream().map(ZipEntry::getName).toList();
        }

        assertThat(entries)
                .as("entries of %s", war)
                .anyMatch(name -> name.startsWith("WEB-INF/lib/twinbox-core"))
                .noneMatch(name -> name.matches("WEB-INF/lib/(twinbox-(console|relay|inbox-cli)|jetty-|picocli).*"))
                .noneMatch(name -> name.matches(".*(dev/twinbox/console|dev/twinbox/relay|org/eclipse/jetty)/.*"));
    }
}
