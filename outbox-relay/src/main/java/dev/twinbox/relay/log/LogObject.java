package dev.twinbox.relay.log;

import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.twinbox.config.Secret;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** One event, one line, one JSON object; without the passwords that a message of a library may hold. */
final class LogObject extends JsonEncoder {

    /** As {@link Secret#masked}, in a JSON string: quotes and slashes are escaped, and the closing quote ends a password. */
    private static final Pattern PASSWORD = Pattern.compile(
            "(?i)(password=)(?:[^&\\s\"\\\\]|\\\\[^nrt])*|(\\\\?/\\\\?/[^/@\\s\"]*:)(?:[^/@\\s\"\\\\]|\\\\[^/nrt])*(?=@)");

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
        return masked(json).getBytes(StandardCharsets.UTF_8);
    }

    private static String masked(String json) {
        return PASSWORD.matcher(json)
                .replaceAll(match -> (match.group(1) == null ? match.group(2) : match.group(1)) + Secret.MASK);
    }
}
