package dev.twinbox;

import static java.lang.annotation.ElementType.TYPE;
import static java.lang.annotation.RetentionPolicy.RUNTIME;

import java.lang.annotation.Documented;
import java.lang.annotation.Retention;
import java.lang.annotation.Target;

/**
 * Names an event class once, for those that publish it and those that handle it.
 *
 * <pre>{@code
 * @EventType(value = "order.placed", topic = "orders", key = "orderId")
 * public record OrderPlaced(long orderId, BigDecimal total) {}
 * }</pre>
 *
 * Looked for on the class of the published object itself, not on its superclasses: a subclass is another event. What
 * {@link Outbox}, {@link OutboxEvent} or {@link InboxHandler} state themselves goes before it.
 */
@Documented
@Retention(RUNTIME)
@Target(TYPE)
public @interface EventType {

    /** Logical name, the CloudEvents {@code type}, for example {@code order.placed}; it outlives the class's name. */
    String value();

    /**
     * Former names of the type: events that still carry one are handled as events of {@link #value()}. Nothing is published under
     * them. On one topic an alias leads to one type and is not itself the name of a type that is handled there; otherwise the
     * receiving application is not deployed.
     */
    String[] aliases() default {};

    /** Kafka topic; empty (the default): stated where the event is published or handled. */
    String topic() default "";

    /** Name of the property that is the record key; empty (the default): no key, hence no order. */
    String key() default "";
}
