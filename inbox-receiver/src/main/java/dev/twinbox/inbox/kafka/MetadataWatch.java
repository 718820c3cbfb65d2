package dev.twinbox.inbox.kafka;

import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.ClusterResource;
import org.apache.kafka.common.ClusterResourceListener;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Notes that a consumer has heard from its brokers which topics there are. Only then can it begin to read another topic
 * of the same name: it asks for records by the topic's id.
 *
 * <p>It is a deserializer, because Kafka's consumer tells it to those.
 */
public final class MetadataWatch extends ByteArrayDeserializer implements ClusterResourceListener {

    private final AtomicBoolean hasChanged = new AtomicBoolean();

    /** Called on the poll thread, or on the consumer's own one. */
    @Override
    public void onUpdate(ClusterResource cluster) {
        hasChanged.set(true);
    }

    /** Whether the consumer has heard anything since the last call. */
    public boolean takeChange() {
        return hasChanged.getAndSet(false);
    }
}
