package dev.twinbox.relay.kafka;

import static dev.twinbox.tracing.MessagingAttributes.CLIENT_ID;
import static dev.twinbox.tracing.MessagingAttributes.ERROR_TYPE;
import static dev.twinbox.tracing.MessagingAttributes.KEY;
import static dev.twinbox.tracing.MessagingAttributes.MESSAGE_ID;
import static dev.twinbox.tracing.MessagingAttributes.OFFSET;
import static dev.twinbox.tracing.MessagingAttributes.OPERATION;
import static dev.twinbox.tracing.MessagingAttributes.OPERATION_TYPE;
import static dev.twinbox.tracing.MessagingAttributes.PARTITION;
import static dev.twinbox.tracing.MessagingAttributes.SYSTEM;
import static dev.twinbox.tracing.MessagingAttributes.TOPIC;
import static dev.twinbox.tracing.MessagingAttributes.TYPE;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.twinbox.CloudEventHeaders;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Sends as Kafka's own producer, and creates a span for each event of a sampled trace. The span {@code send <topic>}
 * lasts from the call to the acknowledgement. Its parent is the context in which the event was created. The record is
 * not changed, so consumers still see that context.
 *
 * <p>Names, kind and attributes follow <a
 * href="https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/">OpenTelemetry's semantic conventions
 * for messaging spans</a>; see ADR 25.
 */
final class TracedProducer extends KafkaProducer<byte[], byte[]> {
    /** {@code version-traceid-parentid-flags}: W3C Trace Context. */
    private static final int SHORTEST_PARENT = 55;

    private static final int FLAGS = 54;

    private static final TextMapGetter<Headers> GETTER =
            (headers, name) -> headers == null ? null : text(headers.lastHeader(name));

    private final Tracer tracer;
    private final String clientId;

    TracedProducer(Map<String, Object> settings, Tracer tracer) {
        super(settings);
        this.tracer = tracer;
        this.clientId = String.valueOf(settings.get(ProducerConfig.CLIENT_ID_CONFIG));
    }

    @Override
    public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, @Nullable Callback callback) {
        if (!isSampled(record.headers().lastHeader(CloudEventHeaders.TRACE_PARENT))) {
            return super.send(record, callback);
        }
        Context creation = W3CTraceContextPropagator.getInstance().extract(Context.root(), record.headers(), GETTER);
        SpanContext parent = Span.fromContext(creation).getSpanContext();
        if (!parent.isValid()) {
            return super.send(record, callback);
        }
        return send(record, callback, begin(record, creation, parent));
    }

    private Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, @Nullable Callback callback, Span span) {
        try {
            return super.send(record, (metadata, failure) -> {
                end(span, metadata, failure);
                if (callback != null) {
                    callback.onCompletion(metadata, failure);
                }
            });
        } catch (RuntimeException | Error e) {
            end(span, null, e);
            throw e;
        }
    }

    /** Reads one character only, since it runs for every event while tracing is on. */
    private static boolean isSampled(@Nullable Header parent) {
        byte[] value = parent == null ? null : parent.value();
        return value != null && value.length >= SHORTEST_PARENT && (Character.digit(value[FLAGS], 16) & 1) == 1;
    }

    private Span begin(ProducerRecord<byte[], byte[]> record, Context creation, SpanContext parent) {
        // Not PRODUCER: that is the kind of the span whose context the event carries.
        return tracer.spanBuilder("send " + record.topic())
                .setSpanKind(SpanKind.CLIENT)
                .setParent(creation)
                .addLink(parent)
                .setAttribute(SYSTEM, "kafka")
                .setAttribute(OPERATION, "send")
                .setAttribute(OPERATION_TYPE, "send")
                .setAttribute(TOPIC, record.topic())
                .setAttribute(CLIENT_ID, clientId)
                .setAttribute(KEY, record.key() == null ? null : new String(record.key(), UTF_8))
                .setAttribute(MESSAGE_ID, text(record.headers().lastHeader(CloudEventHeaders.ID)))
                .setAttribute(TYPE, text(record.headers().lastHeader(CloudEventHeaders.TYPE)))
                .startSpan();
    }

    private static void end(Span span, @Nullable RecordMetadata metadata, @Nullable Throwable failure) {
        if (failure != null) {
            span.setStatus(StatusCode.ERROR)
                    .setAttribute(ERROR_TYPE, failure.getClass().getName());
        } else if (metadata != null) {
            span.setAttribute(PARTITION, Integer.toString(metadata.partition()));
            if (metadata.hasOffset()) {
                span.setAttribute(OFFSET, metadata.offset());
            }
        }
        span.end();
    }

    private static @Nullable String text(@Nullable Header header) {
        return header == null || header.value() == null ? null : new String(header.value(), UTF_8);
    }
}
