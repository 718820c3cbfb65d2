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
 * Who the relay is to Kafka: brokers do not say whom they refuse, and a person who is to grant something has to know.
 *
 * @param principal as ACLs name it, or where to find out
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

    /** Why there is no connection, and what a person can do about it. */
    String explained(AuthenticationException refusal) {
        if (refusal instanceof SslAuthenticationException) {
            return "no encrypted connection to Kafka: " + deepest(refusal) + ". Remedy: look at "
                    + KafkaSettings.PREFIX + "ssl.*; the trust store must hold the authority of the brokers' "
                    + "certificates, and these the host names in " + KafkaSettings.PREFIX + "bootstrap.servers";
        }
        return "Kafka does not let " + principal + " in: " + refusal.getMessage() + ". Remedy: look at "
                + KafkaSettings.PREFIX + "sasl.jaas.config (user and password) and "
                + KafkaSettings.PREFIX + "sasl.mechanism";
    }

    /**
     * Ends a session whose producer may have been refused before: such a one never gets its id, and what it is given then has no
     * answer.
     */
    public KafkaException admitted() {
        return new KafkaException("it lets " + principal + " in now, which needs a new producer");
    }

    /** Java's security providers tell what is wrong in the innermost exception. */
    private static String deepest(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return failure.getMessage() + ", " + cause.getMessage();
    }
}
