package dev.twinbox;

import static java.lang.annotation.ElementType.METHOD;
import static java.lang.annotation.RetentionPolicy.RUNTIME;

import java.lang.annotation.Documented;
import java.lang.annotation.Retention;
import java.lang.annotation.Target;

/**
 * Handles events from Kafka, by default in one JTA transaction with the inbox row that records it.
 *
 * <p><b>Shapes.</b> A public, non-static {@code void} method of a CDI bean or EJB: {@code (E)}, {@code (E,
 * EventContext)} or {@code (List<E>)}, which gets a batch. {@code E} is an event class, or {@code byte[]} or {@code
 * String} when {@link #topic()} and {@link #type()} are both given.
 *
 * <pre>{@code
 * @InboxHandler
 * public void ship(OrderPlaced event) {
 *   em.persist(new Shipment(event.orderId()));
 * }
 * }</pre>
 *
 * <p><b>Each call stands alone.</b> It gets an event object, or an array, of its own. It finds no {@code @RequestScoped}
 * instance of another call. What belongs to the transaction, such as the persistence context, is shared by the calls of a
 * batch.
 *
 * <p><b>Commit and rollback.</b> The method runs in the receiver's transaction. Whatever it throws, checked exceptions
 * and {@code Error}s included, rolls back its effect together with the inbox row. The event is tried again, unless
 * {@link #notRetried()} names the exception. A {@link RetryLaterException} says when. {@link #delivery()} chooses another
 * contract.
 *
 * <p><b>Events that follow.</b> What the method publishes, by {@link Outbox} or {@link OutboxPublisher}, is published
 * if and only if the effect commits. A redelivery of the event publishes nothing. A published event gets the
 * correlation id and the trace context of the handled one, and its id as causation id. The application may set them
 * itself ({@link CloudEventHeaders}). In a {@code (List<E>)} method it gets none of them, since it has many causes.
 *
 * <p><b>Failures.</b> Refused at deployment are methods of another shape, two handlers of one name, and methods that would
 * not run in the receiver's transaction: {@code REQUIRES_NEW}, {@code NOT_SUPPORTED}, {@code NEVER}, bean-managed, or
 * asynchronous. Refused too are session beans that demand a role ({@code @RolesAllowed}, {@code @DenyAll}), classes
 * without a scope, and event classes that JSON-B cannot read. The default serializer reads by {@link #reading()}. {@code
 * AT_MOST_ONCE} handlers with {@link #notRetried()}, or that declare a {@link RetryLaterException}, are refused as well.
 */
@Documented
@Retention(RUNTIME)
@Target(METHOD)
public @interface InboxHandler {

    /** Kafka topic; empty (the default): the topic of the parameter class's {@link EventType}. */
    String topic() default "";

    /**
     * Logical name of the events to handle; empty (the default): the value of the parameter class's {@link EventType}.
     */
    String type() default "";

    /**
     * Former names of the type, for parameters without an {@link EventType}. The aliases of {@link EventType#aliases()}
     * count too, unless {@link #type()} names another type. Aliases count for all handlers of the topic and type.
     */
    String[] aliases() default {};

    /**
     * Stable name of this handler, part of the inbox key. If it changes, every event still on the topic is handled
     * again. Empty (the default): {@code <simple name of the bean class>.<method>}. Where two handlers would get one
     * name, the deployment is refused and an explicit name is needed.
     */
    String name() default "";

    /** What a crash may do to the effect of an event; see {@link DeliveryContract}. */
    DeliveryContract delivery() default DeliveryContract.EXACTLY_ONCE_EFFECT;

    /**
     * What shares a transaction with a call; see {@link HandlerTransaction}. With {@code PER_EVENT} the other handlers
     * of the event get a transaction for each event, too. Not for {@code (List<E>)}.
     */
    HandlerTransaction transaction() default HandlerTransaction.BATCH;

    /**
     * How long a call may take, in ISO form such as {@code PT30S}. Empty (the default): {@code
     * twinbox.inbox.handler-timeout}. A call that takes longer is interrupted, its effect is rolled back, and the event
     * is parked.
     */
    String timeout() default "";

    /**
     * Whether instances exclude each other while they handle an event, by a lock on group, handler and event. For slow
     * handlers whose events are delivered twice at a time. An event that another instance handles waits, without an
     * attempt. Each event then has a transaction of its own. If the locks do not work, handlers go on without them. A lock
     * lasts at most 30 seconds. Not for {@code (List<E>)} and {@code AT_MOST_ONCE}. See {@link KeyLocks}.
     */
    boolean guard() default false;

    /**
     * Exceptions after which another try cannot help, subclasses included. The event is then parked for the operator at
     * once, after one attempt. Its key waits or goes on, by {@code twinbox.inbox.parked.when-dead}. Empty (the default):
     * all failures are tried again.
     *
     * <p>An exception counts too if it is the cause of another one. So it does not matter how a container or a library
     * wraps it, or whether it is thrown at the commit. What the container wraps around it counts only if it is named
     * itself. Never counted are failures of the application's own database, lost connections to any database, conflicts
     * between transactions, and calls that took too long. Not for {@code AT_MOST_ONCE}.
     *
     * <p>In a batch the handler is called twice: the batch is rolled back, and its events are handled one by one.
     */
    Class<? extends Throwable>[] notRetried() default {};

    /**
     * Exceptions that say that something is away which the handler needs for all its events, such as a service. They open
     * its circuit breaker. It opens when at least 20 calls ended within 10 seconds and at least 80 percent of them by
     * such an exception. Subclasses and causes count as with {@link #notRetried()}, which must not name one of them or a
     * superclass. Empty (the default): the handler has no circuit breaker.
     *
     * <p>While it is open the handler is not called for new events. They are parked in order, about 10,000 at most. From
     * time to time one of them is tried, without counting an attempt. The next one follows after its end, and is of another
     * key where there are several. When one succeeds, the breaker is closed and all others follow. After 10 minutes the
     * handler is called as usual again, and failures count as attempts. Other handlers go on. Each instance of the
     * application finds out by its own calls. Not for {@code AT_MOST_ONCE}.
     */
    Class<? extends Throwable>[] breakOn() default {};

    /**
     * What happens to an event that lacks a primitive of the event class, or has a number that does not fit. The default
     * parks it. Only the default {@link EventSerializer} heeds this.
     */
    EventReading reading() default EventReading.STRICT;
}
