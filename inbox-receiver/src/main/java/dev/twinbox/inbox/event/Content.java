package dev.twinbox.inbox.event;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.TypeName;
import dev.twinbox.inbox.event.TopicFormat.Wrapping;
import jakarta.json.JsonException;
import jakarta.json.JsonNumber;
import jakarta.json.JsonObject;
import jakarta.json.JsonString;
import jakarta.json.JsonStructure;
import jakarta.json.JsonValue;
import jakarta.json.JsonValue.ValueType;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * The content of a record without the wrapping that its producer added.
 *
 * <p>All methods throw {@link UnreadableRecordException} with the place and the problem. An id is never guessed or
 * invented.
 */
final class Content {

    /** Of an id as well: the inbox table has it as a constraint. */
    private static final int LONGEST_TEXT = TypeName.MAX_BYTES;

    private static final int MOST_BYTES_OF_A_CHAR = 3;
    private static final char REPLACEMENT = '\uFFFD';

    private static final String CLOUD_EVENTS = "application/cloudevents";
    private static final String CLOUD_EVENTS_JSON = CLOUD_EVENTS + "+json";
    private static final String DATA = "data";
    private static final String DATA_BASE64 = "data_base64";
    private static final String DATA_CONTENT_TYPE = "datacontenttype";
    private static final Set<String> IDENTITY = Set.of("id", "type");
    private static final byte[] VERSION = CloudEventHeaders.SPEC_VERSION_1_0.getBytes(StandardCharsets.UTF_8);

    private final ConsumerRecord<byte[], byte[]> record;
    private final Wrapping wrapping;
    private final byte @Nullable [] value;
    private final Map<String, String> attributes;
    private final boolean structured;
    private @Nullable JsonStructure json;

    private Content(
            ConsumerRecord<byte[], byte[]> record,
            Wrapping wrapping,
            byte @Nullable [] value,
            @Nullable Map<String, String> attributes) {
        this.record = record;
        this.wrapping = wrapping;
        this.value = value;
        this.structured = attributes != null;
        this.attributes = attributes == null ? Map.of() : attributes;
    }

    /**
     * A CloudEvent in structured mode is recognised by its content type. It starts with {@code
     * application/cloudevents}, in upper or lower case (Kafka protocol binding, section 3).
     */
    static Content of(ConsumerRecord<byte[], byte[]> record, Wrapping wrapping) {
        String mediaType = mediaType(headerValue(record, wrapping, CloudEventHeaders.CONTENT_TYPE));
        if (mediaType.startsWith(CLOUD_EVENTS)) {
            return structured(record, wrapping, mediaType);
        }
        byte[] value = record.value();
        return new Content(
                record, wrapping, wrapping == Wrapping.CONNECT_JSON ? ConnectJson.unwrap(value) : value, null);
    }

    /** Null if there is no such header, or it has no value. */
    private static byte @Nullable [] headerValue(
            ConsumerRecord<byte[], byte[]> record, Wrapping wrapping, String name) {
        Header header = record.headers().lastHeader(name);
        return header == null ? null : headerValue(header, wrapping);
    }

    private static byte @Nullable [] headerValue(Header header, Wrapping wrapping) {
        return wrapping == Wrapping.CONNECT_JSON ? ConnectJson.unwrapText(header.value()) : header.value();
    }

    /** The header's text for the handler. Bytes that are not UTF-8 are replaced; no value gives an empty text. */
    String text(Header header) {
        byte[] unwrapped = headerValue(header, wrapping);
        return unwrapped == null ? "" : new String(unwrapped, StandardCharsets.UTF_8);
    }

    private static String mediaType(byte @Nullable [] contentType) {
        if (contentType == null) {
            return "";
        }
        String text = new String(contentType, StandardCharsets.UTF_8);
        int parameters = text.indexOf(';');
        return (parameters < 0 ? text : text.substring(0, parameters)).trim().toLowerCase(Locale.ROOT);
    }

    private static Content structured(ConsumerRecord<byte[], byte[]> record, Wrapping wrapping, String mediaType) {
        if (!mediaType.equals(CLOUD_EVENTS_JSON)) {
            throw new UnreadableRecordException(
                    "its content-type is " + mediaType + "; structured CloudEvents must be " + CLOUD_EVENTS_JSON);
        }
        if (record.value() == null) {
            throw new UnreadableRecordException("it has no value, although its content-type is " + mediaType);
        }
        if (!(Json.parse(record.value()) instanceof JsonObject event)) {
            throw new UnreadableRecordException(
                    "its value is not a JSON object, although its content-type is " + mediaType);
        }
        if (!(event.get("specversion") instanceof JsonString version)
                || !version.getString().equals(CloudEventHeaders.SPEC_VERSION_1_0)) {
            throw new UnreadableRecordException("its specversion is " + event.get("specversion")
                    + "; structured CloudEvents must have version " + CloudEventHeaders.SPEC_VERSION_1_0);
        }
        return new Content(record, wrapping, data(event), attributes(event));
    }

    /** Follows the JSON format of CloudEvents (section 3.1): JSON stays as it is, other data is text or Base64. */
    private static byte @Nullable [] data(JsonObject event) {
        JsonValue data = event.getOrDefault(DATA, JsonValue.NULL);
        JsonValue base64 = event.getOrDefault(DATA_BASE64, JsonValue.NULL);
        if (base64 != JsonValue.NULL) {
            if (data != JsonValue.NULL) {
                throw new UnreadableRecordException("it has both data and data_base64");
            }
            return Json.base64(base64, DATA_BASE64);
        }
        if (data == JsonValue.NULL) {
            return null;
        }
        return Json.utf8(data instanceof JsonString text && !isJson(event) ? text.getString() : data.toString());
    }

    private static boolean isJson(JsonObject event) {
        if (!(event.get(DATA_CONTENT_TYPE) instanceof JsonString type)) {
            return true;
        }
        String name = type.getString().split(";", 2)[0].trim().toLowerCase(Locale.ROOT);
        return name.endsWith("/json") || name.endsWith("+json");
    }

    /** The attributes under the names of their headers in binary mode, extensions included. */
    private static Map<String, String> attributes(JsonObject event) {
        Map<String, String> attributes = new LinkedHashMap<>();
        event.forEach((name, member) -> {
            if (member != JsonValue.NULL && !Set.of(DATA, DATA_BASE64).contains(name)) {
                attributes.put(
                        name.equals(DATA_CONTENT_TYPE)
                                ? CloudEventHeaders.CONTENT_TYPE
                                : CloudEventHeaders.PREFIX + name,
                        attribute(name, member));
            }
        });
        return attributes;
    }

    private static String attribute(String name, JsonValue member) {
        if (IDENTITY.contains(name)) {
            return text(member, "member " + name);
        }
        return member instanceof JsonString text ? text.getString() : member.toString();
    }

    /** The value for the handler; null if there is none. */
    byte @Nullable [] value() {
        return value;
    }

    /** The attributes by their names in binary mode. Empty unless the record is a CloudEvent in structured mode. */
    Map<String, String> attributes() {
        return attributes;
    }

    /** The key as text for the handler. Bytes that are not UTF-8 are replaced. Null if there is no key. */
    @Nullable String keyText() {
        byte[] key = record.key();
        if (key == null) {
            return null;
        }
        if (wrapping == Wrapping.CONNECT_JSON) {
            try {
                byte[] unwrapped = ConnectJson.unwrap(key);
                return unwrapped == null ? null : new String(unwrapped, StandardCharsets.UTF_8);
            } catch (UnreadableRecordException e) {
                // The key has another converter than the value: it is plain text.
            }
        }
        return new String(key, StandardCharsets.UTF_8);
    }

    /** Returns the text at that place. It can be stored and compared. */
    String find(Origin origin) {
        if (origin instanceof Origin.Attribute attribute) {
            return structured
                    ? checked(attributes.get(attribute.header()), member(attribute))
                    : ofBinaryMode(attribute);
        }
        if (origin instanceof Origin.HeaderNamed header) {
            return header(header.name());
        }
        if (origin instanceof Origin.Place place) {
            return checked(at(place), origin.toString());
        }
        if (origin instanceof Origin.Fixed fixed) {
            return fixed.value();
        }
        if (origin instanceof Origin.Coordinates) {
            return record.topic() + "-" + record.partition() + "-" + record.offset();
        }
        return key();
    }

    private static String member(Origin.Attribute attribute) {
        return "member " + attribute.header().substring(CloudEventHeaders.PREFIX.length());
    }

    /**
     * In another version of CloudEvents the attributes may have another meaning. A record without a version is
     * accepted.
     */
    private String ofBinaryMode(Origin.Attribute attribute) {
        boolean hasVersion = record.headers().lastHeader(CloudEventHeaders.SPEC_VERSION) != null;
        byte[] version = headerValue(record, wrapping, CloudEventHeaders.SPEC_VERSION);
        if (hasVersion && !Arrays.equals(version, VERSION)) {
            throw new UnreadableRecordException("header " + CloudEventHeaders.SPEC_VERSION + " is "
                    + (version == null ? "empty" : "\"" + new String(version, StandardCharsets.UTF_8) + "\"")
                    + "; CloudEvents must have version " + CloudEventHeaders.SPEC_VERSION_1_0);
        }
        return header(attribute.header());
    }

    private String header(String name) {
        Header header = record.headers().lastHeader(name);
        String place = "header " + name;
        return checked(header == null ? null : decoded(headerValue(header, wrapping), place), place);
    }

    private String key() {
        String place = "the record key";
        byte[] key = record.key();
        if (key != null && wrapping == Wrapping.NONE) {
            return checked(decoded(key, place), place);
        }
        String text = keyText();
        if (text != null && text.indexOf(REPLACEMENT) >= 0) {
            throw new UnreadableRecordException(place + " is not UTF-8");
        }
        return checked(text, place);
    }

    private @Nullable String at(Origin.Place place) {
        JsonValue found;
        try {
            found = place.pointer().getValue(json(place));
        } catch (JsonException e) {
            return null; // there is no such place
        }
        return found.getValueType() == ValueType.NULL ? null : text(found, place.toString());
    }

    private static String text(JsonValue found, String place) {
        if (found instanceof JsonString text) {
            return text.getString();
        }
        if (found instanceof JsonNumber number && number.isIntegral()) {
            return number.toString();
        }
        throw new UnreadableRecordException(place + " is neither a string nor a whole number");
    }

    private JsonStructure json(Origin.Place place) {
        if (json == null) {
            if (value == null) {
                throw new UnreadableRecordException("it has no value, so " + place + " is missing");
            }
            if (!(Json.parse(value) instanceof JsonStructure structure)) {
                throw new UnreadableRecordException(
                        "its value is neither a JSON object nor an array, so " + place + " is missing");
            }
            json = structure;
        }
        return json;
    }

    /** Decodes UTF-8 strictly. Null, as in a header without a value, gives an empty text. */
    static String decoded(byte @Nullable [] bytes, String place) {
        if (bytes == null) {
            return "";
        }
        String text = new String(bytes, StandardCharsets.UTF_8);
        if (text.indexOf(REPLACEMENT) >= 0 && !Arrays.equals(text.getBytes(StandardCharsets.UTF_8), bytes)) {
            // A lenient decoder could make two ids equal.
            throw new UnreadableRecordException(place + " is not UTF-8");
        }
        return text;
    }

    private static String checked(@Nullable String text, String place) {
        if (text == null) {
            throw new UnreadableRecordException(place + " is missing");
        }
        if (text.isEmpty()) {
            throw new UnreadableRecordException(place + " is empty");
        }
        if (text.indexOf('\0') >= 0) {
            throw new UnreadableRecordException(place + " contains U+0000 at index " + text.indexOf('\0'));
        }
        if (hasLoneSurrogate(text)) {
            throw new UnreadableRecordException(place + " has a lone surrogate");
        }
        if (isTooLong(text)) {
            throw new UnreadableRecordException(place + " has more than " + LONGEST_TEXT + " bytes: "
                    + text.getBytes(StandardCharsets.UTF_8).length);
        }
        return text;
    }

    /** Counts the bytes only if the text may be too long; most are short. */
    private static boolean isTooLong(String text) {
        return text.length() > LONGEST_TEXT
                || (text.length() > LONGEST_TEXT / MOST_BYTES_OF_A_CHAR
                        && text.getBytes(StandardCharsets.UTF_8).length > LONGEST_TEXT);
    }

    private static boolean hasLoneSurrogate(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
            } else if (Character.isSurrogate(c)) {
                return true;
            }
        }
        return false;
    }
}
