package dev.twinbox.relay.kafka;

import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.LargestEvent;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The settings of the relay's producers: those that hold the guarantees, and defaults for those that an operator may
 * choose.
 */
public final class ProducerSettings {
    /** Bounds the time in which the sending thread does not notice that it should stop. */
    private static final int MAX_BLOCK_MILLIS = 1_000;

    /** How long consumers of committed records wait at a transaction whose relay died without a successor. */
    private static final int TRANSACTION_TIMEOUT_MILLIS = 60_000;

    /** In this mode it also bounds the begin and the end of a transaction. */
    private static final int TRANSACTION_MAX_BLOCK_MILLIS = 5_000;

    private static final int TRANSACTION_RETRY_MILLIS = 20;

    /**
     * Long enough for full batches while a backlog is sent. A single record does not wait for it, see {@code ProducerFlusher}.
     */
    private static final int LINGER_MILLIS = 20;

    /** The purpose of the producer that sends the pages. */
    public static final String SENDER = "sender";

    /** The purpose of the producer that sends parked events. */
    public static final String RETRY = "retry";

    /** The purpose of the producer that sends events again for a job. */
    public static final String RESEND = "resend";

    private ProducerSettings() {}

    /** The settings of one of the process's producers. Each needs a name of its own. */
    public static Map<String, Object> of(RelayConfig config, String purpose) {
        Map<String, Object> settings = of(config);
        settings.merge(ProducerConfig.CLIENT_ID_CONFIG, purpose, (name, suffix) -> name + "-" + suffix);
        if (isLingerOurs(config)) {
            settings.put(ProducerConfig.LINGER_MS_CONFIG, purpose.equals(SENDER) ? LINGER_MILLIS : 0);
        }
        if (config.delivery().mode() == DeliveryMode.EXACTLY_ONCE) {
            settings.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, transactionalId(config, purpose));
            settings.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, TRANSACTION_TIMEOUT_MILLIS);
            settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, TRANSACTION_MAX_BLOCK_MILLIS);
            // Kafka refuses the first records of a transaction while it still writes the end of the last one.
            settings.putIfAbsent(ProducerConfig.RETRY_BACKOFF_MS_CONFIG, TRANSACTION_RETRY_MILLIS);
        }
        return settings;
    }

    /** The name by which Kafka fences earlier producers of the same purpose. No relay name contains a colon. */
    private static String transactionalId(RelayConfig config, String purpose) {
        return purpose.equals(SENDER) ? config.name() : config.name() + ':' + purpose;
    }

    public static Map<String, Object> of(RelayConfig config) {
        Map<String, Object> settings = new HashMap<>();
        settings.put(ProducerConfig.CLIENT_ID_CONFIG, "twinbox-relay-" + config.name());
        settings.put(ProducerConfig.COMPRESSION_TYPE_CONFIG, "lz4");
        settings.put(ProducerConfig.BATCH_SIZE_CONFIG, 128 * 1024);
        settings.put(ProducerConfig.BUFFER_MEMORY_CONFIG, 64 * 1024 * 1024L);
        settings.putAll(config.kafka().settings());
        settings.putAll(fixed());
        return settings;
    }

    /** What no producer of this configuration can send, because the client refuses it. */
    public static LargestEvent largest(RelayConfig config) {
        Map<String, Object> settings = of(config);
        long request = number(settings, ProducerConfig.MAX_REQUEST_SIZE_CONFIG);
        return new LargestEvent(
                Math.min(request, number(settings, ProducerConfig.BUFFER_MEMORY_CONFIG)), Refusal.LIMITS);
    }

    private static long number(Map<String, Object> settings, String name) {
        ConfigDef.ConfigKey key =
                Objects.requireNonNull(ProducerConfig.configDef().configKeys().get(name), name);
        Object value = settings.getOrDefault(name, key.defaultValue);
        return ((Number) ConfigDef.parseType(name, value, key.type)).longValue();
    }

    /** Whether the relay chooses how long records linger, because the operator has not configured it. */
    public static boolean isLingerOurs(RelayConfig config) {
        return !config.kafka().settings().containsKey(ProducerConfig.LINGER_MS_CONFIG);
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
