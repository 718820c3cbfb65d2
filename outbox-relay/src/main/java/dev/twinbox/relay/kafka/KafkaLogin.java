package dev.twinbox.relay.kafka;

import dev.twinbox.relay.config.KafkaSettings;
import dev.twinbox.relay.config.RelayConfig;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.SaslConfigs;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.SslAuthenticationException;

/**
 * The relay's identity in Kafka. Brokers do not say whom they refuse, but an operator who grants something must know.
 *
 * @param principal the name in ACLs, or a description of where to find it
 */
public record KafkaLogin(String principal) {
    private static final Pattern USER = Pattern.compile("\\busername\\s*=\\s*[\"']?([^\"';\\s]+)");

    public static KafkaLogin of(RelayConfig.Kafka kafka) {
        return new KafkaLogin(principal(kafka.settings()));
    }

    private static String principal(Map<String, String> settings) {
        String protocol = settings.getOrDefault(CommonClientConfigs.SECURITY_PROTOCOL_CONFIG, "PLAINTEXT");
        if (protocol.startsWith("SASL")) {
            Matcher user = USER.matcher(settings.getOrDefault(SaslConfigs.SASL_JAAS_CONFIG, ""));
            return user.find() ? "User:" + user.group(1) : "the principal that the relay logs in as";
        }
        boolean certified = protocol.equals("SSL")
                && (settings.containsKey(SslConfigs.SSL_KEYSTORE_LOCATION_CONFIG)
                        || settings.containsKey(SslConfigs.SSL_KEYSTORE_CERTIFICATE_CHAIN_CONFIG));
        return certified ? "the subject of the relay's certificate" : "User:ANONYMOUS";
    }

    /** Why there is no connection, and what the operator can do about it. */
    public String explain(AuthenticationException refusal) {
        if (refusal instanceof SslAuthenticationException) {
            return "no encrypted connection to Kafka: " + deepest(refusal) + ". Remedy: check "
                    + KafkaSettings.PREFIX + "ssl.*. The trust store must contain the authority of the brokers' "
                    + "certificates, and the certificates must contain the host names in "
                    + KafkaSettings.PREFIX + "bootstrap.servers";
        }
        return "Kafka does not let " + principal + " in: " + refusal.getMessage() + ". Remedy: check "
                + KafkaSettings.PREFIX + "sasl.jaas.config (user and password) and "
                + KafkaSettings.PREFIX + "sasl.mechanism";
    }

    /**
     * The failure that ends a session after Kafka has accepted the login again. The session's producer may have been
     * refused before. Such a producer never gets its id, and its records never get an answer.
     */
    public KafkaException admitted() {
        return new KafkaException("Kafka accepts the login of " + principal + " again; the relay opens a new producer");
    }

    /** Java's security providers put the reason into the innermost exception. */
    private static String deepest(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return failure.getMessage() + ", " + cause.getMessage();
    }
}
