package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.MetricQuery;
import dev.twinbox.fixtures.MetricRules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Alert rules, dashboard and page use metrics that exist, and Prometheus takes the names. {@link PatternsIT} reads the
 * metrics from a server.
 */
class MonitoringTest {
    private static final Path DOCS = Path.of("..", "docs");
    private static final Pattern METRIC = Pattern.compile("twinbox_inbox_[a-z_]+");

    /** As a server writes them. */
    private static final String SCRAPE = InboxMetrics.meanings().entrySet().stream()
            .map(metric -> "# HELP %1$s %2$s\n# TYPE %1$s %3$s\n%1$s{group=\"g\"} 0.0\n"
                    .formatted(
                            metric.getKey(),
                            metric.getValue(),
                            metric.getKey().endsWith("_total") ? "counter" : "gauge"))
            .collect(Collectors.joining());

    @Test
    void promtoolWouldAcceptTheNames() {
        assertThat(MetricRules.problems(SCRAPE)).isEmpty();
    }

    /** By the metric's name without prefix and {@code _total}. */
    @Test
    void jmxHasEachFigureOfTheMetrics() {
        Set<String> attributes = Stream.of(InboxMXBean.class.getMethods())
                .map(method -> method.getName().replaceFirst("^(get|is)", ""))
                .collect(Collectors.toSet());

        assertThat(attributes)
                .containsAll(InboxMetrics.meanings().keySet().stream()
                        .map(MonitoringTest::attribute)
                        .toList());
    }

    private static String attribute(String metric) {
        return Stream.of(metric.replaceFirst("^twinbox_inbox_", "")
                        .replaceFirst("_total$", "")
                        .split("_"))
                .map(word -> Character.toUpperCase(word.charAt(0)) + word.substring(1))
                .collect(Collectors.joining());
    }

    @ParameterizedTest
    @ValueSource(strings = {"alerts.yml", "dashboards/receiver.json"})
    void eachQueryReadsMetricsThatExist(String file) throws IOException {
        List<MetricQuery> queries = MetricQuery.in(DOCS.resolve("how-to").resolve(file)).stream()
                .filter(query -> !query.text().contains("twinbox_relay_"))
                .toList();

        assertThat(queries).hasSizeGreaterThan(8);
        assertThat(queries)
                .allSatisfy(query -> assertThat(query.problems(SCRAPE)).isEmpty());
    }

    @ParameterizedTest
    @ValueSource(strings = {"how-to/dashboards/receiver.json", "reference/metrics.md"})
    void eachMetricIsShownAndExplained(String file) throws IOException {
        Set<String> named = METRIC.matcher(Files.readString(DOCS.resolve(file)))
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toSet());

        assertThat(named)
                .containsExactlyInAnyOrderElementsOf(InboxMetrics.meanings().keySet());
    }
}
