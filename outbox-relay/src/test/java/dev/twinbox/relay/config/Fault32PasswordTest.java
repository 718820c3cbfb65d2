package dev.twinbox.relay.config;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.config.Secret;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The password {@code pa$$w0rd} was read as {@code pa$w0rd}, and a login failed that was right. */
class Fault32PasswordTest {
    private static final String KEY = "twinbox.relay.database.password";
    private static final Map<String, String> NEEDED = Map.of(
            "twinbox.relay.database.url", "jdbc:postgresql://x/y", "twinbox.relay.kafka.bootstrap.servers", "x:1");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"pa$$w0rd", "$$", "$", "a$$$b", "$1{x}", "pa${", "$}", "a$b{c}"})
    void aPasswordIsReadAsItIsFromEachPlace(String password) throws IOException {
        Path file = folder.resolve("relay.properties");
        Files.writeString(file, KEY + "=" + password + "\n", UTF_8);
        assertThat(read(file, Map.of(), Map.of())).isEqualTo(password);
        assertThat(read(null, Map.of("TWINBOX_RELAY_DATABASE_PASSWORD", password), Map.of()))
                .isEqualTo(password);
        assertThat(read(null, Map.of(), Map.of(KEY, password))).isEqualTo(password);
    }

    @ParameterizedTest
    @ValueSource(strings = {"pa$$w0rd", "a${other}b", "${NOWHERE}", "\\${x}"})
    void whatANameBringsIsNotExpandedAgain(String password) throws IOException {
        Path file = folder.resolve("relay.properties");
        Files.writeString(
                file,
                KEY
                        + "=${DB_PASSWORD}\nother=wrong\ntwinbox.relay.kafka.sasl.jaas.config=x password=\"${DB_PASSWORD}\";\n",
                UTF_8);
        Map<String, String> environment = Map.of("DB_PASSWORD", password);
        assertThat(read(file, environment, Map.of())).isEqualTo(password);
        assertThat(ConfigurationReader.read(file, environment, NEEDED).kafka().settings())
                .containsEntry("sasl.jaas.config", "x password=\"" + password + "\";");
    }

    @Test
    void aDefaultIsUsedIfTheNameIsNotDefined() throws IOException {
        assertThat(read(null, Map.of(), Map.of(KEY, "${NOWHERE:a$$b}"))).isEqualTo("a$$b");
        assertThat(read(null, Map.of("SOMEWHERE", "x"), Map.of(KEY, "<${SOMEWHERE:y}>")))
                .isEqualTo("<x>");
    }

    private static String read(Path file, Map<String, String> environment, Map<String, String> properties) {
        Map<String, String> all = new HashMap<>(NEEDED);
        all.putAll(properties);
        Secret password =
                ConfigurationReader.read(file, environment, all).database().password();
        return password == null ? null : password.value();
    }
}
