package dev.twinbox.inbox.event;

import dev.twinbox.DeliveryContract;
import dev.twinbox.EventContext;
import dev.twinbox.EventReading;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A handler that is ready to be called, through the bean's contextual reference. */
public final class Handler {

    /** Every handler is called as {@code (event or list, context or null)}. */
    public static final MethodType CALL = MethodType.methodType(void.class, Object.class, Object.class);

    private static final MethodHandle NOTHING = MethodHandles.empty(CALL);

    private final String name;
    private final DeliveryContract delivery;
    private final HandlerShape shape;
    private final Class<?> eventClass;
    private final EventReading reading;
    private final MethodHandle call;
    private final HandlerOptions options;

    /** A handler that chooses no options and reads its events strictly. */
    public Handler(String name, DeliveryContract delivery, HandlerShape shape, Class<?> eventClass, MethodHandle call) {
        this(name, delivery, shape, eventClass, EventReading.STRICT, call, HandlerOptions.DEFAULT);
    }

    Handler(
            String name,
            DeliveryContract delivery,
            HandlerShape shape,
            Class<?> eventClass,
            EventReading reading,
            MethodHandle call,
            HandlerOptions options) {
        this.name = name;
        this.delivery = delivery;
        this.shape = shape;
        this.eventClass = eventClass;
        this.reading = reading;
        this.call = call;
        this.options = options;
    }

    /** A handler that only another instance has. It cannot be called here; events are parked for it. */
    public static Handler elsewhere(String name, DeliveryContract delivery) {
        return new Handler(name, delivery, HandlerShape.EVENT, byte[].class, NOTHING);
    }

    /** A replacement that does nothing, for an event that only has to be claimed. */
    public Handler withoutEffect() {
        return new Handler(name, delivery, HandlerShape.EVENT, byte[].class, EventReading.STRICT, NOTHING, options);
    }

    /** The same handler, whose events are claimed. */
    Handler claiming() {
        return claims()
                ? this
                : new Handler(name, DeliveryContract.EXACTLY_ONCE_EFFECT, shape, eventClass, reading, call, options);
    }

    public boolean hasEffect() {
        return call != NOTHING;
    }

    public String name() {
        return name;
    }

    public HandlerShape shape() {
        return shape;
    }

    /** Whether its events must not share a transaction. */
    boolean isPerEvent() {
        return options.isPerEvent();
    }

    /** Whether instances exclude each other while they handle an event. */
    public boolean isGuarded() {
        return options.isGuarded();
    }

    /** How long a call may take; null: as configured. */
    public @Nullable Duration timeout() {
        return options.timeout();
    }

    HandlerOptions options() {
        return options;
    }

    /** Exceptions that open its circuit breaker; empty: it has none. */
    public Set<Class<? extends Throwable>> breakOn() {
        return options.breakOn();
    }

    /** Whether what it threw counts as a failure for its circuit breaker. What is not retried is about the event. */
    public boolean breaksOn(Throwable thrown) {
        return Causes.isNamed(thrown, options.breakOn()) && !Causes.isNamed(thrown, options.notRetried());
    }

    Class<?> eventClass() {
        return eventClass;
    }

    EventReading reading() {
        return reading;
    }

    /** Whether its effect is protected by an inbox row. */
    public boolean claims() {
        return delivery == DeliveryContract.EXACTLY_ONCE_EFFECT;
    }

    /** Whether its events may be lost, but must not be repeated. */
    public boolean isAtMostOnce() {
        return delivery == DeliveryContract.AT_MOST_ONCE;
    }

    public void handle(@Nullable Object event, @Nullable EventContext context) throws Throwable {
        call.invokeExact(event, (Object) context);
    }

    public void handleAll(List<@Nullable Object> events) throws Throwable {
        call.invokeExact((Object) events, (Object) null);
    }

    @Override
    public String toString() {
        return name;
    }
}
