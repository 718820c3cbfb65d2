package dev.twinbox.relay;

import java.util.Locale;

/** Which of Kafka's producer settings are secret, and which are not the operator's to choose. */
final class KafkaSettings {

    private KafkaSettings() {}

    /** Kafka's own naming: passwords, key material, and the JAAS line, which holds a password. */
    static boolean isSecret(String key) {
        String name = key.toLowerCase(Locale.ROOT);
        return name.contains("password")
                || name.contains("secret")
                || name.contains("jaas")
                || name.contains("credential")
                || name.contains("token")
                || name.endsWith("keystore.key")
                || name.endsWith("keystore.certificate.chain");
    }
}
