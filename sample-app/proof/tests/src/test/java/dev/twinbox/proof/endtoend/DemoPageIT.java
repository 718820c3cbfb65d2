package dev.twinbox.proof.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.Browser;
import dev.twinbox.fixtures.Ports;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The demo's page in a browser: orders are placed, everything is killed, and the ledger is exact in the end. */
@Tag("proof")
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class DemoPageIT {

    /** A limit for what takes seconds on two free cores. On a busy machine Payara starts ten times slower. */
    private static final Duration LIMIT = Duration.ofMinutes(5);

    private static final Path ROOT = Path.of(System.getProperty("twinbox.root"));
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @TempDir
    Path folder;

    @BeforeAll
    static void aBrowserIsThere() {
        assumeThat(Browser.missing()).isEmpty();
    }

    @Test
    void ordersArePlacedPartsAreKilledAndTheLedgerIsExact() throws Exception {
        int port = Ports.pick();
        Path log = folder.resolve("demo.log");
        Process demo = start(port, log);
        try (Browser browser = Browser.start()) {
            URI page = URI.create("http://127.0.0.1:" + port + "/");
            await("the demo runs")
                    .atMost(LIMIT)
                    .ignoreExceptions()
                    .until(() -> state(page).contains("\"phase\":\"running\""));
            browser.open(page);
            click(browser, "place-thousand");
            browser.await("#orders", "1,000", LIMIT);
            click(browser, "kill-receiver");
            click(browser, "kill-relay");
            click(browser, "send-duplicates");
            click(browser, "restart-kafka");
            for (String station : List.of("shipping", "relay", "kafka")) {
                browser.await("[data-server=" + station + "] .health", "running, process", LIMIT);
                browser.await("[data-server=" + station + "] .health", "restarted once", LIMIT);
            }
            click(browser, "place-one");
            browser.await("#equation", "1,001 orders = 1,001 events = 1,001 shipments", LIMIT);
            browser.await("#verdict", "Exact", LIMIT);
            assertThat(browser.await("#repeats", "").getText())
                    .as("records that came twice")
                    .isNotEqualTo("0");
            picture(browser);
            browser.withWidth(360);
            assertThat(browser.overflow()).as("on a narrow screen").isLessThanOrEqualTo(0);
            assertThat(browser.errors()).isEmpty();
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError("the demo's log:\n" + Files.readString(log), e);
        } finally {
            demo.destroy(); // it stops its servers
            assertThat(demo.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        }
    }

    private static Process start(int port, Path log) throws IOException {
        Path target = ROOT.resolve(Path.of("sample-app", "demo", "target"));
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-Dtwinbox.root=" + ROOT,
                "-Dtwinbox.demo.page.port=" + port));
        for (String part : List.of("orders", "shipping", "relay", "postgres", "kafka")) {
            command.add("-Dtwinbox.demo." + part + ".port=" + Ports.pick());
        }
        command.addAll(List.of(
                "-cp",
                target.resolve("demo.jar") + File.pathSeparator + Files.readString(target.resolve("class-path")),
                "dev.twinbox.sample.demo.DemoMain"));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
    }

    private static String state(URI page) throws IOException, InterruptedException {
        return CLIENT.send(
                        HttpRequest.newBuilder(page.resolve("api/state")).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }

    /** A button is off while its action cannot be done. */
    private static void click(Browser browser, String action) {
        String button = "button[data-action=" + action + "]:enabled";
        browser.await(button, "", LIMIT);
        browser.click(button, "");
    }

    private static void picture(Browser browser) {
        if (Boolean.getBoolean("twinbox.it.write-pictures")) {
            browser.picture(ROOT.resolve(Path.of("docs", "how-to", "pictures", "demo.png")));
        }
    }
}
