package dev.twinbox.relay;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** What the relay asks of its producer: what holds the guarantees, and defaults for what an operator may choose. */
final class ProducerSettings {
    /** Bounds the time for which the sending thread cannot hear that it should stop. */
    private static final int MAX_BLOCK_MILLIS = 1_000;

    private ProducerSettings() {}

    /** Those of one of several producers of a process, which needs a name of its own. */
    static Map<String, Object> of(RelayConfig config, String purpose) {
        Map<String, Object> settings = of(config);
        settings.merge(ProducerConfig.CLIENT_ID_CONFIG, purpose, (name, suffix) -> name + "-" + suffix);
        return settings;
    }

    static Map<String, Object> of(RelayConfig config) {
        Map<String, Object> settings = new HashMap<>();
        settings.put(ProducerConfig.CLIENT_ID_CONFIG, "twinbox-relay-" + config.name());
        settings.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, "lz4");
        settings.put(ProducerConfig.LINGER_MS_CONFIG, 0);
        settings.put(ProducerConfig.BATCH_SIZE_CONFIG, 128 * 1024);
        settings.put(ProducerConfig.BUFFER_MEMORY_CONFIG, 64 * 1024 * 1024L);
        settings.putAll(config.kafka().settings());
        settings.putAll(fixed());
        return settings;
    }

    private static Map<String, Object> fixed() {
        return Map.of(
                ProducerConfig.ACKS_CONFIG,
                "all",
                ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
                true,
                ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION,
                5,
                ProducerConfig.RETRIES_CONFIG,
                Integer.MAX_VALUE,
                ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
                Integer.MAX_VALUE,
                ProducerConfig.MAX_BLOCK_MS_CONFIG,
                MAX_BLOCK_MILLIS,
                ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG,
                false,
                ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
                ByteArraySerializer.class.getName(),
                ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG,
                ByteArraySerializer.class.getName());
    }
}
