package dev.twinbox.tracing;

import static dev.twinbox.tracing.MessagingAttributes.COUNT;
import static dev.twinbox.tracing.MessagingAttributes.ERROR_TYPE;
import static dev.twinbox.tracing.MessagingAttributes.GROUP;
import static dev.twinbox.tracing.MessagingAttributes.KEY;
import static dev.twinbox.tracing.MessagingAttributes.MESSAGE_ID;
import static dev.twinbox.tracing.MessagingAttributes.OFFSET;
import static dev.twinbox.tracing.MessagingAttributes.OPERATION;
import static dev.twinbox.tracing.MessagingAttributes.OPERATION_TYPE;
import static dev.twinbox.tracing.MessagingAttributes.PARTITION;
import static dev.twinbox.tracing.MessagingAttributes.SYSTEM;
import static dev.twinbox.tracing.MessagingAttributes.TOPIC;
import static dev.twinbox.tracing.MessagingAttributes.TYPE;

import dev.twinbox.AlreadyDoneException;
import dev.twinbox.CloudEventHeaders;
import dev.twinbox.EventContext;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapPropagator;
import jakarta.ejb.EJBException;
import jakarta.enterprise.inject.Instance;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Spans by the server's OpenTelemetry. Names and kinds follow the same conventions as {@link MessagingAttributes}.
 */
final class OpenTelemetryTracing implements Tracing {

    private static final Logger LOG = System.getLogger(OpenTelemetryTracing.class.getName());

    private static final String SCOPE = "dev.twinbox";

    private static final AttributeKey<String> HANDLER = AttributeKey.stringKey("twinbox.handler");

    private final Tracer tracer;
    private final TextMapPropagator propagator;

    private OpenTelemetryTracing(Tracer tracer, TextMapPropagator propagator) {
        this.tracer = tracer;
        this.propagator = propagator;
    }

    static Tracing of(Instance<Object> beans) {
        Instance<OpenTelemetry> known = beans.select(OpenTelemetry.class);
        if (!known.isResolvable()) {
            return Tracing.off();
        }
        try {
            OpenTelemetry openTelemetry = known.get();
            TextMapPropagator propagator = openTelemetry.getPropagators().getTextMapPropagator();
            if (propagator.fields().isEmpty()) {
                return Tracing.off(); // switched off, although Payara 6 still makes spans then
            }
            LOG.log(Level.INFO, "Tracing is on: spans of events go to the OpenTelemetry of the server");
            return new OpenTelemetryTracing(openTelemetry.getTracer(SCOPE), propagator);
        } catch (RuntimeException | LinkageError e) { // events do not need spans
            LOG.log(Level.WARNING, "No spans of events, the server''s OpenTelemetry cannot be used: {0}", e.toString());
            return Tracing.off();
        }
    }

    @Override
    public Map<String, String> created(
            String topic, @Nullable String key, String type, UUID id, Map<String, String> headers) {
        // The conventions: a creation context of the application is not modified, and there is no span "create" then.
        if (headers.containsKey(CloudEventHeaders.TRACE_PARENT) || headers.containsKey(CloudEventHeaders.TRACE_STATE)) {
            return headers;
        }
        Span span = span("create", topic, SpanKind.PRODUCER)
                .setAttribute(KEY, key)
                .setAttribute(TYPE, type)
                .setAttribute(MESSAGE_ID, id.toString())
                .startSpan();
        span.end(); // what follows has spans of its own, which name this one
        Map<String, String> more = new LinkedHashMap<>(headers);
        propagator.inject(Context.current().with(span), more, TraceHeaders::put);
        return more;
    }

    @Override
    public void handle(String group, String handler, Supplier<EventContext> event, Work work) throws Throwable {
        EventContext context = event.get();
        // Not the thread's context, which an earlier event may have left there.
        Context remote = propagator.extract(Context.root(), context.headers(), TraceHeaders.GETTER);
        SpanBuilder span = process(group, handler, context.topic())
                .setParent(remote)
                .setAttribute(PARTITION, Integer.toString(context.partition()))
                .setAttribute(OFFSET, context.offset())
                .setAttribute(KEY, context.key())
                .setAttribute(TYPE, context.type())
                .setAttribute(MESSAGE_ID, context.id());
        link(span, remote);
        within(span.startSpan(), remote, work);
    }

    @Override
    public void handleAll(String group, String handler, Supplier<List<EventContext>> events, Work work)
            throws Throwable {
        List<EventContext> contexts = events.get();
        SpanBuilder span = process(group, handler, contexts.get(0).topic())
                .setNoParent()
                .setAttribute(COUNT, (long) contexts.size())
                .setAttribute(TYPE, contexts.get(0).type());
        contexts.forEach(
                context -> link(span, propagator.extract(Context.root(), context.headers(), TraceHeaders.GETTER)));
        within(span.startSpan(), Context.root(), work);
    }

    private SpanBuilder process(String group, String handler, String topic) {
        return span("process", topic, SpanKind.CONSUMER)
                .setAttribute(GROUP, group)
                .setAttribute(HANDLER, handler);
    }

    private SpanBuilder span(String operation, String topic, SpanKind kind) {
        return tracer.spanBuilder(operation + " " + topic)
                .setSpanKind(kind)
                .setAttribute(SYSTEM, "kafka")
                .setAttribute(OPERATION, operation)
                .setAttribute(OPERATION_TYPE, operation)
                .setAttribute(TOPIC, topic);
    }

    private static void link(SpanBuilder span, Context remote) {
        SpanContext creation = Span.fromContext(remote).getSpanContext();
        if (creation.isValid()) {
            span.addLink(creation);
        }
    }

    private static void within(Span span, Context remote, Work work) throws Throwable {
        try (Scope ignored = remote.with(span).makeCurrent()) {
            work.run();
        } catch (Throwable t) {
            Throwable cause = withoutContainer(t);
            if (!(cause instanceof AlreadyDoneException)) {
                // Without the message, which may hold parts of the payload. Log and parked event have it.
                span.setStatus(StatusCode.ERROR)
                        .setAttribute(ERROR_TYPE, cause.getClass().getName());
            }
            throw t;
        } finally {
            span.end();
        }
    }

    private static Throwable withoutContainer(Throwable thrown) {
        Throwable cause = thrown instanceof EJBException ? thrown.getCause() : null;
        return cause == null ? thrown : cause;
    }
}
