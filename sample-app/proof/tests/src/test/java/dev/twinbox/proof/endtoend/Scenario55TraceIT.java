package dev.twinbox.proof.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.OtlpReceiver;
import dev.twinbox.fixtures.ToldSpan;
import dev.twinbox.proof.landscape.BuiltFile;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Landscape;
import dev.twinbox.proof.landscape.Part;
import dev.twinbox.proof.landscape.Plan;
import dev.twinbox.proof.landscape.StartProgress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * TRACE, the whole path. The request for an order, its event in the outbox, the relay, and the handler of another
 * service are one trace. They run in three processes. Retries, parking and events published by handlers are in the
 * receiver's test of the same name.
 */
@Tag("proof")
class Scenario55TraceIT {

    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final String CALLER = "b7ad6b7169203331";

    /** On a busy machine Payara starts ten times slower. */
    private static final Duration LIMIT = Duration.ofMinutes(5);

    @Test
    void aRequestItsEventTheRelayAndTheHandlerAreOneTrace() throws Exception {
        try (OtlpReceiver collector = OtlpReceiver.start();
                Landscape landscape = new Landscape(
                        Installation.in(Path.of(System.getProperty("twinbox.root")), BuiltFile.SAMPLE),
                        Plan.withoutSpares().withConfiguration(onlyOfSampledCallers(collector)))) {
            landscape.start(new StartProgress(System.out::println), part -> landscape.startAndAwait(part, LIMIT));
            URI orders = landscape.server(Part.PRODUCER).uri(Landscape.ORDERS_PATH + "?count=1&customer=7");
            // Of one customer, so in order. What the first one should not leave would be there before the second one's.
            assertThat(post(orders, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"))
                    .isEqualTo(200);
            assertThat(post(orders, "00-" + TRACE + "-" + CALLER + "-01")).isEqualTo(200);
            await("the handler's span")
                    .atMost(LIMIT)
                    .until(() -> !named(collector, "process orders").isEmpty());

            ToldSpan process = named(collector, "process orders").get(0);
            ToldSpan create = named(collector, "create orders").get(0);
            await("the relay's span")
                    .atMost(LIMIT)
                    .until(() -> !named(collector, "send orders").isEmpty());
            ToldSpan send = named(collector, "send orders").get(0);
            assertThat(List.of(create.service(), send.service(), process.service()))
                    .containsExactly("orders", "twinbox-relay", "shipping");
            assertThat(send.parent()).isEqualTo(create.id());
            assertThat(process.parent()).isEqualTo(create.id());
            assertThat(send.attributes().get("messaging.message.id"))
                    .isEqualTo(create.attributes().get("messaging.message.id"))
                    .isEqualTo(process.attributes().get("messaging.message.id"));
            await("the request's span, above that of the event")
                    .atMost(LIMIT)
                    .until(() -> collector.spans().stream()
                            .anyMatch(span -> span.id().equals(create.parent())
                                    && span.kind().equals("SERVER")));
            assertThat(collector.spans())
                    .allSatisfy(span -> assertThat(span.trace()).isEqualTo(TRACE));
        }
    }

    /** The start of the services, their health checks and the other request leave no spans. */
    private static Map<String, String> onlyOfSampledCallers(OtlpReceiver collector) {
        Map<String, String> settings = new HashMap<>(collector.settings());
        settings.put("otel.traces.sampler", "parentbased_always_off");
        return settings;
    }

    private static List<ToldSpan> named(OtlpReceiver collector, String name) {
        return collector.spans().stream()
                .filter(span -> span.name().equals(name))
                .toList();
    }

    private static int post(URI uri, String traceParent) throws Exception {
        HttpClient http =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        return http.send(
                        HttpRequest.newBuilder(uri)
                                .header("traceparent", traceParent)
                                .POST(HttpRequest.BodyPublishers.noBody())
                                .build(),
                        HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }
}
