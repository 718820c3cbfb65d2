package dev.twinbox.inbox.event;

import dev.twinbox.DeliveryContract;
import dev.twinbox.EventReading;
import dev.twinbox.HandlerTransaction;
import dev.twinbox.inbox.event.HandlerOptions.Guarding;
import java.lang.invoke.MethodHandle;
import java.util.Set;

/** Makes handlers that are guarded, without a method that has the annotation. */
public final class GuardedHandler {

    private GuardedHandler() {}

    /** A handler that gets the text of an event. */
    public static Handler of(String name, DeliveryContract delivery, MethodHandle call) {
        return new Handler(
                name,
                delivery,
                HandlerShape.EVENT,
                String.class,
                EventReading.STRICT,
                call,
                new HandlerOptions(HandlerTransaction.BATCH, null, Guarding.GUARDED, Set.of(), Set.of()));
    }
}
