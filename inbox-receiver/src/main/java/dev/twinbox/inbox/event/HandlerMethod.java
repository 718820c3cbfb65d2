package dev.twinbox.inbox.event;

import dev.twinbox.DeliveryContract;
import dev.twinbox.EventReading;
import jakarta.enterprise.context.spi.CreationalContext;
import jakarta.enterprise.inject.spi.Bean;
import jakarta.enterprise.inject.spi.BeanManager;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Set;

/**
 * A legal {@code @InboxHandler} method, found at deployment.
 *
 * @param name its stable name, unique in the application
 * @param topic Kafka topic
 * @param type logical name of the events
 * @param aliases former names of the type
 * @param delivery its delivery contract
 * @param shape its parameters
 * @param options what it chooses for its calls
 * @param eventClass the class of its events
 * @param reading how strictly its events are read
 * @param method the method as the bean's view declares it
 * @param bean the bean; its contextual reference is called, so that interceptors apply
 * @param view the bean type through which it is called
 */
public record HandlerMethod(
        String name,
        String topic,
        String type,
        Set<String> aliases,
        DeliveryContract delivery,
        HandlerShape shape,
        HandlerOptions options,
        Class<?> eventClass,
        EventReading reading,
        Method method,
        Bean<?> bean,
        Type view) {

    /** The bean knows a generic interface only with its arguments. */
    private Type typeOfBean() {
        return bean.getTypes().stream()
                .filter(type -> type instanceof ParameterizedType generic
                        && generic.getRawType().equals(view))
                .findFirst()
                .orElse(view);
    }

    /** Resolves bean and method once, so that a call needs no reflection. */
    public Handler bind(BeanManager beans, CreationalContext<?> context) {
        Object reference = beans.getReference(bean, typeOfBean(), context);
        MethodHandle call;
        try {
            method.setAccessible(true); // the class need not be public
            call = MethodHandles.lookup().unreflect(method).bindTo(reference);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("handler " + name + " cannot be called", e);
        }
        if (shape != HandlerShape.EVENT_AND_CONTEXT) {
            call = MethodHandles.dropArguments(call, 1, Object.class);
        }
        return new Handler(name, delivery, shape, eventClass, reading, call.asType(Handler.CALL), options);
    }
}
