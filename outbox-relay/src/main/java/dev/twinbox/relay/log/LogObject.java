package dev.twinbox.relay.log;

import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.twinbox.relay.config.Secret;
import java.nio.charset.StandardCharsets;

/** One event, one line, one JSON object; without the passwords that a message of a library may hold. */
final class LogObject extends JsonEncoder {

    LogObject() {
        setWithSequenceNumber(false);
        setWithNanoseconds(false);
        setWithContext(false);
        setWithMessage(false); // the pattern of the next
        setWithFormattedMessage(true);
        setWithArguments(false);
    }

    @Override
    public byte[] encode(ILoggingEvent event) {
        String json = new String(super.encode(event), StandardCharsets.UTF_8);
        return Secret.maskedInJson(json).getBytes(StandardCharsets.UTF_8);
    }
}
