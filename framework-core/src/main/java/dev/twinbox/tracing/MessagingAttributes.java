package dev.twinbox.tracing;

import io.opentelemetry.api.common.AttributeKey;

/**
 * Names of the attributes of spans about events, in applications and in the relay. They are OpenTelemetry's <a
 * href="https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/">semantic conventions for messaging
 * spans</a> and <a href="https://opentelemetry.io/docs/specs/semconv/messaging/kafka/">for Kafka</a>. Public only for
 * relay and receiver.
 */
public final class MessagingAttributes {
    public static final AttributeKey<String> SYSTEM = AttributeKey.stringKey("messaging.system");
    public static final AttributeKey<String> OPERATION = AttributeKey.stringKey("messaging.operation.name");
    public static final AttributeKey<String> OPERATION_TYPE = AttributeKey.stringKey("messaging.operation.type");
    public static final AttributeKey<String> TOPIC = AttributeKey.stringKey("messaging.destination.name");
    public static final AttributeKey<String> PARTITION = AttributeKey.stringKey("messaging.destination.partition.id");
    public static final AttributeKey<Long> OFFSET = AttributeKey.longKey("messaging.kafka.offset");
    public static final AttributeKey<String> KEY = AttributeKey.stringKey("messaging.kafka.message.key");
    public static final AttributeKey<String> MESSAGE_ID = AttributeKey.stringKey("messaging.message.id");
    public static final AttributeKey<Long> COUNT = AttributeKey.longKey("messaging.batch.message_count");
    public static final AttributeKey<String> GROUP = AttributeKey.stringKey("messaging.consumer.group.name");
    public static final AttributeKey<String> CLIENT_ID = AttributeKey.stringKey("messaging.client.id");
    public static final AttributeKey<String> TYPE = AttributeKey.stringKey("cloudevents.event_type");
    public static final AttributeKey<String> ERROR_TYPE = AttributeKey.stringKey("error.type");

    private MessagingAttributes() {}
}
