package dev.twinbox.json;

import dev.twinbox.EventSerializer;
import jakarta.enterprise.inject.spi.Bean;

/** Whether events are written and read by JSON-B. If so, their classes have to be fit for it. */
public final class DefaultSerializer {

    private DefaultSerializer() {}

    /**
     * Whether the bean is a serializer that the application brings. The container reports only those that are enabled.
     */
    public static boolean isReplacedBy(Bean<?> bean) {
        return bean.getTypes().contains(EventSerializer.class) && bean.getBeanClass() != JsonbSerializer.class;
    }
}
