package dev.twinbox.relay.kafka;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * OpenTelemetry in this process, if it is switched on. What is not is not there at all: producers are Kafka's own then, and
 * nobody looks into an event's headers.
 */
public final class Tracing implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Tracing.class);

    private static final String SCOPE = "dev.twinbox.relay";

    /** A collector that is away must not hold up the end of the process. */
    private static final long FLUSH_SECONDS = 2;

    private final @Nullable OpenTelemetrySdk sdk;

    private Tracing(@Nullable OpenTelemetrySdk sdk) {
        this.sdk = sdk;
    }

    /**
     * Switched on or off, as configured.
     *
     * @throws RelayException with {@link ExitCode#USAGE} if OpenTelemetry refuses its settings
     */
    public static Tracing of(RelayConfig.Telemetry config) {
        if (!config.isOn()) {
            return new Tracing(null);
        }
        Map<String, String> settings = new HashMap<>(Map.of(
                "otel.service.name", "outbox-relay",
                "otel.metrics.exporter", "none", // Prometheus has them
                "otel.logs.exporter", "none"));
        settings.putAll(config.settings());
        try {
            OpenTelemetrySdk sdk = AutoConfiguredOpenTelemetrySdk.builder()
                    .disableShutdownHook()
                    .addPropertiesSupplier(() -> settings)
                    .build()
                    .getOpenTelemetrySdk();
            LOG.info("Tracing is on: events that are sampled get a span when they are sent");
            return new Tracing(sdk);
        } catch (ConfigurationException e) {
            throw new RelayException(
                    ExitCode.USAGE,
                    "OpenTelemetry refuses its settings, correct them (otel.*, OTEL_*): " + e.getMessage(),
                    e);
        }
    }

    /** A producer of Kafka's that tells what it sends, if anybody listens. */
    public KafkaProducer<byte[], byte[]> producer(Map<String, Object> settings) {
        return sdk == null ? new KafkaProducer<>(settings) : new TracedProducer(settings, tracer(sdk));
    }

    private static Tracer tracer(OpenTelemetrySdk sdk) {
        return sdk.getTracer(SCOPE);
    }

    /** Hands over the spans that have ended. */
    @Override
    public void close() {
        if (sdk != null) {
            sdk.getSdkTracerProvider().shutdown().join(FLUSH_SECONDS, TimeUnit.SECONDS);
        }
    }
}
