package dev.twinbox.console.search;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.errors.AuthenticationException;

/**
 * How a process of ours reads what others have sent.
 *
 * @param settings by Kafka's own names, also those that no consumer has
 * @param clientId shown by brokers
 * @param principal whom an operator grants rights, for messages
 * @param login explains why Kafka refuses the login, with the remedy
 */
public record KafkaAccess(
        Map<String, String> settings,
        String clientId,
        String principal,
        Function<AuthenticationException, String> login) {
    private static final int TIMEOUT_MILLIS = 3_000;

    /** What comes at once is small: the memory of these processes is. */
    private static final int FETCH_BYTES = 2 * 1024 * 1024;

    private static final int PARTITION_FETCH_BYTES = 256 * 1024;

    /** Of a consumer without a group, which sees what is committed. */
    Map<String, Object> consumer() {
        Map<String, Object> consumer = new HashMap<>(settings);
        consumer.keySet().retainAll(ConsumerConfig.configNames());
        consumer.remove(ConsumerConfig.GROUP_ID_CONFIG);
        consumer.remove(ConsumerConfig.INTERCEPTOR_CLASSES_CONFIG); // The configured ones are for other clients.
        consumer.put(ConsumerConfig.CLIENT_ID_CONFIG, clientId);
        consumer.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        consumer.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        consumer.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest"); // Retention may remove what is read next.
        consumer.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        consumer.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, TIMEOUT_MILLIS);
        consumer.put(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG, TIMEOUT_MILLIS);
        consumer.put(ConsumerConfig.FETCH_MAX_BYTES_CONFIG, FETCH_BYTES);
        consumer.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, PARTITION_FETCH_BYTES);
        return consumer;
    }

    /** Of a client that asks brokers about topics and groups. */
    public Map<String, Object> admin() {
        Map<String, Object> admin = new HashMap<>(settings);
        admin.keySet().retainAll(AdminClientConfig.configNames());
        admin.put(AdminClientConfig.CLIENT_ID_CONFIG, clientId);
        admin.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, TIMEOUT_MILLIS);
        admin.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, TIMEOUT_MILLIS);
        return admin;
    }

    /** The brokers, for messages. */
    public String brokers() {
        return settings.getOrDefault(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, "-");
    }
}
