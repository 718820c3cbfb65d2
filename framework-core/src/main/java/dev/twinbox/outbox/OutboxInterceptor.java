package dev.twinbox.outbox;

import dev.twinbox.InvalidEventException;
import dev.twinbox.Outbox;
import dev.twinbox.OutboxPublisher;
import jakarta.annotation.Priority;
import jakarta.inject.Inject;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InvocationContext;
import java.io.Serializable;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Publishes what an {@link Outbox} method returns, through {@link OutboxPublisher}.
 *
 * <p>Its priority puts it inside {@code @Transactional} (200), and outside of what an application (2000) or fault
 * tolerance (4010) adds. So it sees the final result of a call, which may have been repeated, in the call's
 * transaction. It is serializable because the interceptors of a stateful bean have to be.
 */
@Outbox
@Interceptor
@Priority(Interceptor.Priority.LIBRARY_BEFORE)
class OutboxInterceptor implements Serializable {

    private static final long serialVersionUID = 1;

    @Inject
    OutboxPublisher publisher;

    @Inject
    TransactionOutbox outbox;

    @Inject
    OutboxMethods methods;

    @AroundInvoke
    @Nullable Object publishResult(InvocationContext context) throws Exception {
        Method method = context.getMethod();
        // First, so that a method without a transaction does nothing.
        outbox.requireTransaction(() -> describe(method));
        ReturnedEvents returned = ReturnedEvents.of(context.proceed());
        publish(context.getTarget().getClass(), method, returned.events());
        return returned.result();
    }

    /** <b>Remedy.</b> The rest of the message names it. */
    private void publish(Class<?> bean, Method method, List<?> events) {
        if (events.isEmpty()) {
            return;
        }
        outbox.requireTransaction(() -> describe(method));
        try {
            List<Object> complete = new ArrayList<>(events.size());
            for (Object event : events) {
                complete.add(methods.complete(bean, method, event));
            }
            publisher.publishAll(complete);
        } catch (InvalidEventException e) {
            throw new InvalidEventException(
                    "What " + describe(method) + " returned cannot be published: " + e.getMessage(), e);
        }
    }

    private static String describe(Method method) {
        return method.getDeclaringClass().getName() + "." + method.getName();
    }
}
