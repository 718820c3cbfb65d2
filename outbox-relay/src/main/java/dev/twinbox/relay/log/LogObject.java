package dev.twinbox.relay.log;

import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.twinbox.relay.config.Secret;
import java.nio.charset.StandardCharsets;

/** Formats one event as one line with one JSON object. Passwords in messages of libraries are masked. */
final class LogObject extends JsonEncoder {

    LogObject() {
        setWithSequenceNumber(false);
        setWithNanoseconds(false);
        setWithContext(false);
        setWithMessage(false); // The pattern below provides the message.
        setWithFormattedMessage(true);
        setWithArguments(false);
    }

    @Override
    public byte[] encode(ILoggingEvent event) {
        String json = new String(super.encode(event), StandardCharsets.UTF_8);
        return Secret.maskedInJson(json).getBytes(StandardCharsets.UTF_8);
    }
}
