package dev.twinbox.relay.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.config.Secret;
import dev.twinbox.console.config.HttpConfig;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The tokens of the API are secrets, and too long to be guessed. */
class HttpTokensTest {
    private static final List<String> KEYS =
            List.of("twinbox.relay.http.reader-token", "twinbox.relay.http.operator-token");

    @ParameterizedTest
    @ValueSource(strings = {"m4rk3r-tooshort", "m4rk3r with a blank", "m4rk3r-m4rk3r-\u00fc-m4rk3r"})
    void aWrongTokenIsRefusedAndNotShown(String value) {
        for (String key : KEYS) {
            assertThatThrownBy(() -> read(Map.of(key, value)))
                    .isInstanceOf(RelayException.class)
                    .message()
                    .contains(key, "16 to 200 printable characters")
                    .doesNotContain(value);
        }
    }

    @Test
    void aTokenIsReadAndNotShown() {
        String token = "m4rk3r-0123456789";
        for (String key : KEYS) {
            assertThat(read(Map.of(key, token)).toString())
                    .doesNotContain(token)
                    .contains(Secret.MASK);
            String variable = key.toUpperCase(Locale.ROOT).replaceAll("\\W", "_");
            HttpConfig http = ConfigurationReader.read(null, Map.of(variable, token), all(Map.of()))
                    .http();
            assertThat(key.endsWith("reader-token") ? http.readerToken() : http.operatorToken())
                    .isEqualTo(new Secret(token));
        }
    }

    /** Whoever may read could change everything. */
    @Test
    void equalTokensAreRefusedAndNotShown() {
        String token = "m4rk3r-0123456789";
        assertThatThrownBy(() -> read(Map.of(KEYS.get(0), token, KEYS.get(1), token)))
                .isInstanceOf(RelayException.class)
                .message()
                .contains(KEYS.get(0), "must differ from " + KEYS.get(1))
                .doesNotContain(token);
        assertThat(read(Map.of(KEYS.get(0), token, KEYS.get(1), token + "0"))
                        .http()
                        .readerToken())
                .isEqualTo(new Secret(token));
    }

    private static RelayConfig read(Map<String, String> settings) {
        return ConfigurationReader.read(null, Map.of(), all(settings));
    }

    private static Map<String, String> all(Map<String, String> settings) {
        Map<String, String> all = new HashMap<>(settings);
        all.put("twinbox.relay.database.url", "jdbc:postgresql://localhost/none");
        all.put("twinbox.relay.kafka.bootstrap.servers", "localhost:1");
        return all;
    }
}
