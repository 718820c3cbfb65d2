package dev.twinbox.relay.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import dev.twinbox.config.Secret;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.slf4j.event.KeyValuePair;

class LogObjectTest {

    @Test
    void aLineIsOneJsonObjectAndHoldsNoPassword() {
        JsonObject line = line(
                "jdbc:postgresql://me:s3c\"ret@h/d?sslpassword=s3c\"ret&x=1 failed\nand more",
                new IllegalStateException("password=s3cret"));

        assertThat(line.getString("level")).isEqualTo("WARN");
        assertThat(line.getString("loggerName")).isEqualTo("dev.twinbox.relay.Relay");
        assertThat(line.getString("formattedMessage")).contains("jdbc:postgresql://me:", "&x=1 failed\nand more");
        assertThat(line.getString("formattedMessage"))
                .doesNotContain("s3c", "ret@")
                .contains(Secret.MASK);
        assertThat(line.getJsonObject("throwable").getString("message")).isEqualTo("password=" + Secret.MASK);
    }

    @Test
    void whatTheFilterHeldBackIsAField() {
        assertThat(line("again", null).toString()).contains("\"kvpList\"", OutageFilter.SUPPRESSED);
    }

    private static JsonObject line(String message, Throwable thrown) {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        LogObject encoder = new LogObject();
        encoder.setContext(context);
        encoder.start();
        LoggingEvent event = new LoggingEvent(
                "", context.getLogger("dev.twinbox.relay.Relay"), Level.WARN, message, thrown, new Object[0]);
        event.addKeyValuePair(new KeyValuePair(OutageFilter.SUPPRESSED, 3));
        String text = new String(encoder.encode(event), StandardCharsets.UTF_8);
        assertThat(text.strip().lines()).hasSize(1);
        try (JsonReader reader = Json.createReader(new StringReader(text))) {
            return reader.readObject();
        }
    }
}
