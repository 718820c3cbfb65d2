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
 * OpenTelemetry in this process, if it is switched on. Otherwise it is absent: producers are Kafka's own then, and the
 * relay does not read the events' headers.
 */
public final class Tracing implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Tracing.class);

    private static final String SCOPE = "dev.twinbox.relay";

    /** A collector that is unavailable must not delay the end of the process. */
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
                "otel.service.name", "twinbox-relay",
                "otel.metrics.exporter", "none", // Prometheus scrapes them
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

    /** A Kafka producer that creates spans if tracing is on. */
    public KafkaProducer<byte[], byte[]> producer(Map<String, Object> settings) {
        return sdk == null ? new KafkaProducer<>(settings) : new TracedProducer(settings, tracer(sdk));
    }

    private static Tracer tracer(OpenTelemetrySdk sdk) {
        return sdk.getTracer(SCOPE);
    }

    /** Exports the spans that have ended. */
    @Override
    public void close() {
        if (sdk != null) {
            sdk.getSdkTracerProvider().shutdown().join(FLUSH_SECONDS, TimeUnit.SECONDS);
        }
    }
}
