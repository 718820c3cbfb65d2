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
 * It is looked for on the class of the published object, not on its superclasses: a subclass is another event. What
 * {@link Outbox}, {@link OutboxEvent} or {@link InboxHandler} say themselves wins over it.
 */
@Documented
@Retention(RUNTIME)
@Target(TYPE)
public @interface EventType {

    /**
     * Logical name, the CloudEvents {@code type}, for example {@code order.placed}. It stays when the class is renamed.
     * It has at most {@value TypeName#MAX_BYTES} bytes in UTF-8.
     */
    String value();

    /**
     * Former names of the type. Events that still carry one are handled as events of {@link #value()}; nothing is
     * published under them. On one topic, an alias belongs to one type and is not the name of another type that is
     * handled there. Otherwise the deployment of the receiving application is refused.
     */
    String[] aliases() default {};

    /** Kafka topic; empty (the default): stated where the event is published or handled. */
    String topic() default "";

    /** Name of the property that is the record key; empty (the default): no key, hence no order. */
    String key() default "";
}
