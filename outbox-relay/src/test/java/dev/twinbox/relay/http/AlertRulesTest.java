package dev.twinbox.relay.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.engine.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The alert rules and the page of metrics use names of existing metrics only. */
class AlertRulesTest {
    private static final Pattern METRIC = Pattern.compile("twinbox_relay_[a-z_]+");

    @ParameterizedTest
    @ValueSource(strings = {"how-to/alerts.yml", "reference/metrics.md"})
    void eachMetricThatTheDocumentNamesIsOneOfTheRelays(String document) throws IOException {
        Set<String> named = new TreeSet<>();
        Matcher matcher = METRIC.matcher(Files.readString(Path.of("..", "docs", document)));
        while (matcher.find()) {
            named.add(matcher.group());
        }
        try (Metrics metrics = new Metrics("relay", DeliveryMode.AT_LEAST_ONCE, new Progress(System::nanoTime))) {
            String scrape = metrics.scrape();
            assertThat(named)
                    .hasSizeGreaterThan(5)
                    .allSatisfy(name -> assertThat(scrape).contains("\n" + name + "{"));
        }
    }
}
