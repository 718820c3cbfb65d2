package dev.twinbox;

import static java.lang.annotation.ElementType.METHOD;
import static java.lang.annotation.ElementType.TYPE;
import static java.lang.annotation.RetentionPolicy.RUNTIME;

import jakarta.enterprise.util.Nonbinding;
import jakarta.interceptor.InterceptorBinding;
import java.lang.annotation.Documented;
import java.lang.annotation.Retention;
import java.lang.annotation.Target;

/**
 * Publishes what a business method returns, in the caller's JTA transaction.
 *
 * <p><b>Shapes.</b> A non-static, non-final, non-private method of an EJB or CDI bean. It returns an event, an {@link
 * OutboxEvent}, or an {@code Optional}, {@code Collection} or {@code Stream} of either. {@code null}, an empty {@code
 * Optional} and an empty collection publish nothing. The caller gets the returned object itself. Only a {@code Stream},
 * which can be read once, is replaced by a new sequential stream over the same elements.
 *
 * <pre>{@code
 * @Outbox(topic = "orders", key = "orderId", type = "order.placed")
 * public OrderPlaced place(Cart cart) {
 *   Order order = orders.save(new Order(cart));
 *   return new OrderPlaced(order.id(), order.total());
 * }
 * }</pre>
 *
 * <p><b>Commit and rollback.</b> The event is serialized when the method returns. Its row is written just before the
 * transaction commits, and is rolled back with it. A method that throws publishes nothing itself. What the same
 * transaction published before is published if the transaction commits nevertheless, which is JTA's default for checked
 * exceptions.
 *
 * <p><b>Failures.</b> Without an active transaction the method is not called: the caller gets a {@link
 * jakarta.transaction.TransactionalException} that names it, with a {@link
 * jakarta.transaction.TransactionRequiredException} as its cause. An event that cannot be sent as it is leads to an
 * {@link InvalidEventException} when the method returns, which rolls the transaction back. A method of another shape is
 * refused at deployment.
 *
 * <p><b>Trap.</b> An interceptor sees only calls through the bean's proxy: {@code this.place(cart)} publishes nothing.
 * Inject the bean into itself, or call {@link OutboxPublisher}.
 *
 * <p>On a class, the annotation applies to each business method that has none itself.
 *
 * @see OutboxPublisher the same by hand
 * @see EventType names, topic and key once for an event class
 */
@Documented
@InterceptorBinding
@Retention(RUNTIME)
@Target({METHOD, TYPE})
public @interface Outbox {

    /**
     * Kafka topic, 1 to 249 characters of {@code a-z A-Z 0-9 . _ -}. Empty (the default): the topic of the event
     * class's {@link EventType}. An {@link OutboxEvent} with a topic of its own keeps that.
     */
    @Nonbinding
    String topic() default "";

    /**
     * Name of the event's property (record component, getter or field) whose value is the record key. Events of one
     * topic and key keep their order. Empty (the default): the key of the event class's {@link EventType}; if that has
     * none, there is no key and no order. A named property that is {@code null} in an event is an {@link
     * InvalidEventException}.
     */
    @Nonbinding
    String key() default "";

    /**
     * Logical name of the event, the CloudEvents {@code type}, for example {@code order.placed}. Empty (the default):
     * the value of the event class's {@link EventType}. Do not use a class name: it would change with a refactoring.
     */
    @Nonbinding
    String type() default "";
}
