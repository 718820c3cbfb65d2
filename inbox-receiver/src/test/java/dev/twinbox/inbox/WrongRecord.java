package dev.twinbox.inbox;

import dev.twinbox.CloudEventHeaders;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.function.Consumer;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/**
 * Records that Twinbox's relay never writes, and what happens to each. A right record gets one mistake at a time. Some
 * mistakes are harmless: they show where the limit is.
 */
public enum WrongRecord {
    ID_MISSING(
            parkedWithoutHandler(
                    "header ce_id is missing; correct its producer, or set twinbox.inbox.event-id to another place"),
            record -> record.without("ce_id")),
    ID_WITHOUT_VALUE(parkedWithoutHandler("header ce_id is empty"), record -> record.with("ce_id", (byte[]) null)),
    ID_EMPTY(parkedWithoutHandler("header ce_id is empty"), record -> record.with("ce_id", "")),
    ID_TOO_LONG(
            parkedWithoutHandler("header ce_id has more than 512 bytes: 513"),
            record -> record.with("ce_id", "i".repeat(513))),
    ID_TOO_LONG_IN_BYTES(
            parkedWithoutHandler("header ce_id has more than 512 bytes: 514"),
            record -> record.with("ce_id", "ä".repeat(257))),
    ID_FAR_TOO_LONG(
            parkedWithoutHandler("header ce_id has more than 512 bytes: 100000"),
            record -> record.with("ce_id", "i".repeat(100_000))),
    ID_NOT_UTF8(parkedWithoutHandler("header ce_id is not UTF-8"), record -> record.with("ce_id", bytes(0x61, 0xc3))),
    ID_WITH_SURROGATE(
            parkedWithoutHandler("header ce_id is not UTF-8"), record -> record.with("ce_id", bytes(0xed, 0xa0, 0x80))),
    ID_WITH_NUL(
            parkedWithoutHandler("header ce_id contains U+0000 at index 1"), record -> record.with("ce_id", "a\0b")),
    ID_TWICE_THE_LAST_EMPTY(parkedWithoutHandler("header ce_id is empty"), record -> record.add("ce_id", "")),
    ID_IN_ANOTHER_CASE(
            parkedWithoutHandler("header ce_id is missing"),
            record -> record.without("ce_id").add("CE_ID", "x")),

    TYPE_MISSING(
            parkedWithoutHandler(
                    "header ce_type is missing; correct its producer, or set twinbox.inbox.event-type to another"),
            record -> record.without("ce_type")),
    TYPE_EMPTY(parkedWithoutHandler("header ce_type is empty"), record -> record.with("ce_type", "")),
    TYPE_TOO_LONG(
            parkedWithoutHandler("header ce_type has more than 512 bytes: 600"),
            record -> record.with("ce_type", "t".repeat(600))),
    TYPE_NOT_UTF8(parkedWithoutHandler("header ce_type is not UTF-8"), record -> record.with("ce_type", bytes(0xff))),
    TYPE_WITH_NUL(
            parkedWithoutHandler("header ce_type contains U+0000 at index 5"),
            record -> record.with("ce_type", "order\0")),
    TYPE_UNKNOWN(skipped(), record -> record.with("ce_type", "order.cancelled")),
    TYPE_IN_ANOTHER_CASE(skipped(), record -> record.with("ce_type", "Order")),
    NOTHING_AT_ALL(parkedWithoutHandler("header ce_type is missing"), Draft::clear),

    VERSION_OLD(
            parkedWithoutHandler("header ce_specversion is \"0.3\"; CloudEvents must have version 1.0"),
            record -> record.with("ce_specversion", "0.3")),
    VERSION_NEW(
            parkedWithoutHandler("header ce_specversion is \"2.0\"; CloudEvents must have version 1.0"),
            record -> record.with("ce_specversion", "2.0")),
    VERSION_EMPTY(parkedWithoutHandler("header ce_specversion is \"\""), record -> record.with("ce_specversion", "")),
    VERSION_WITHOUT_VALUE(
            parkedWithoutHandler("header ce_specversion is empty"),
            record -> record.with("ce_specversion", (byte[]) null)),
    VERSION_MISSING(handled(), record -> record.without("ce_specversion")),

    VALUE_NULL(handled(), record -> record.noValue()),
    VALUE_EMPTY(handlers("its value of 0 bytes cannot be read as " + Draft.ORDER), record -> record.value("")),
    VALUE_HALF(handlers("its value of 6 bytes cannot be read as " + Draft.ORDER), record -> record.value("{\"id\":")),
    VALUE_NOT_JSON(handlers("its value of 5 bytes cannot be read as " + Draft.ORDER), record -> record.value("order")),
    VALUE_XML(handlers("its value of 8 bytes cannot be read as " + Draft.ORDER), record -> record.value("<order/>")),
    VALUE_ARRAY(handlers("its value of 3 bytes cannot be read as " + Draft.ORDER), record -> record.value("[1]")),
    VALUE_NUMBER(handlers("its value of 2 bytes cannot be read as " + Draft.ORDER), record -> record.value("17")),
    VALUE_OF_ANOTHER_CLASS(
            handlers("cannot be read as " + Draft.ORDER),
            record -> record.value("{\"id\":\"1\",\"action\":\"\",\"times\":\"many\"}")),
    VALUE_BINARY(
            handlers("its value of 4 bytes cannot be read as " + Draft.ORDER),
            record -> record.value(bytes(0, 0xff, 0xfe, 2))),
    VALUE_IN_UTF16(
            handlers("cannot be read as " + Draft.ORDER),
            record -> record.value(Draft.JSON.getBytes(StandardCharsets.UTF_16))),
    VALUE_NOT_UTF8(
            handlers("cannot be read as " + Draft.ORDER),
            record -> record.value("{\"id\":\"ä\",\"action\":\"\",\"times\":0}".getBytes(StandardCharsets.ISO_8859_1))),
    VALUE_NESTED_DEEPLY(
            handlers("its value of 10000 bytes cannot be read as " + Draft.ORDER),
            record -> record.value("[".repeat(10_000))),

    CONTENT_TYPE_MISSING(handled(), record -> record.without("content-type")),
    CONTENT_TYPE_WRONG(handled(), record -> record.with("content-type", "text/xml")),
    CONTENT_TYPE_NOT_UTF8(handled(), record -> record.with("content-type", bytes(0xff))),
    CONTENT_TYPE_AVRO(
            parkedWithoutHandler("its content-type is application/cloudevents+avro; structured CloudEvents must be "
                    + "application/cloudevents+json"),
            record -> record.with("content-type", "application/cloudevents+avro")),
    CONTENT_TYPE_BATCH(
            parkedWithoutHandler("its content-type is application/cloudevents-batch+json"),
            record -> record.with("content-type", "application/cloudevents-batch+json")
                    .value("[]")),

    STRUCTURED_NULL(
            parkedWithoutHandler("it has no value, although its content-type is application/cloudevents+json"),
            record -> record.structured("").noValue()),
    STRUCTURED_NOT_JSON(
            parkedWithoutHandler("its value of 5 bytes is not JSON"),
            record -> record.structured("").value("order")),
    STRUCTURED_NOT_UTF8(
            parkedWithoutHandler("its value is not UTF-8"),
            record -> record.structured("").value(bytes('"', 0xc3, '"'))),
    STRUCTURED_ARRAY(
            parkedWithoutHandler("its value is not a JSON object"),
            record -> record.structured("").value("[]")),
    STRUCTURED_NESTED_DEEPLY(
            parkedWithoutHandler("its value"), record -> record.structured("").value("[".repeat(100_000))),
    STRUCTURED_VERSION_MISSING(
            parkedWithoutHandler("its specversion is null; structured CloudEvents must have version 1.0"),
            record -> record.structured("\"id\":\"1\",\"type\":\"order\"")),
    STRUCTURED_VERSION_OLD(
            parkedWithoutHandler("its specversion is \"0.3\"; structured CloudEvents must have version 1.0"),
            record -> record.structured("\"specversion\":\"0.3\",\"id\":\"1\",\"type\":\"order\"")),
    STRUCTURED_ID_MISSING(
            parkedWithoutHandler("member id is missing"),
            record -> record.structured("\"specversion\":\"1.0\",\"type\":\"order\"")),
    STRUCTURED_ID_NULL(parkedWithoutHandler("member id is missing"), record -> record.event("\"id\":null")),
    STRUCTURED_ID_EMPTY(parkedWithoutHandler("member id is empty"), record -> record.event("\"id\":\"\"")),
    STRUCTURED_ID_OBJECT(
            parkedWithoutHandler("member id is neither a string nor a whole number"),
            record -> record.event("\"id\":{\"a\":1}")),
    STRUCTURED_ID_FRACTION(
            parkedWithoutHandler("member id is neither a string nor a whole number"),
            record -> record.event("\"id\":1.5")),
    STRUCTURED_ID_TRUE(
            parkedWithoutHandler("member id is neither a string nor a whole number"),
            record -> record.event("\"id\":true")),
    STRUCTURED_ID_TOO_LONG(
            parkedWithoutHandler("member id has more than 512 bytes: 513"),
            record -> record.event("\"id\":\"" + "i".repeat(513) + "\"")),
    STRUCTURED_ID_WITH_NUL(
            parkedWithoutHandler("member id contains U+0000 at index 0"), record -> record.event("\"id\":\"\\u0000\"")),
    STRUCTURED_ID_WITH_SURROGATE(
            parkedWithoutHandler("member id has a lone surrogate"), record -> record.event("\"id\":\"\\udfff\"")),
    STRUCTURED_TYPE_MISSING(
            parkedWithoutHandler("member type is missing"),
            record -> record.structured("\"specversion\":\"1.0\",\"id\":\"1\"")),
    STRUCTURED_TYPE_ARRAY(
            parkedWithoutHandler("member type is neither a string nor a whole number"),
            record -> record.structured("\"specversion\":\"1.0\",\"id\":\"1\",\"type\":[\"order\"]")),
    STRUCTURED_TYPE_UNKNOWN(
            skipped(),
            record -> record.structured("\"specversion\":\"1.0\",\"id\":\"1\",\"type\":\"order.cancelled\"")),
    STRUCTURED_DATA_TWICE(
            parkedWithoutHandler("it has both data and data_base64"),
            record -> record.event("\"id\":\"1\",\"data\":1,\"data_base64\":\"YQ==\"")),
    STRUCTURED_BASE64_WRONG(
            parkedWithoutHandler("its data_base64 is not Base64"),
            record -> record.event("\"id\":\"1\",\"data_base64\":\"?\"")),
    STRUCTURED_BASE64_NO_TEXT(
            parkedWithoutHandler("its data_base64 is not a string"),
            record -> record.event("\"id\":\"1\",\"data_base64\":1")),
    STRUCTURED_DATA_WRONG(
            handlers("cannot be read as " + Draft.ORDER),
            record -> record.event("\"id\":\"data-wrong\",\"data\":\"x\"")),
    STRUCTURED_SOURCE_MISSING(handled(), record -> record.event(record.member("data"))),
    STRUCTURED_TIME_WRONG(handled(), record -> record.event("\"time\":\"yesterday\"," + record.member("data"))),
    STRUCTURED_EXTENSION_WRONG(handled(), record -> record.event("\"tenant\":{\"a\":[]}," + record.member("data"))),

    TIME_WRONG(handled(), record -> record.with("ce_time", "yesterday")),
    SOURCE_MISSING(handled(), record -> record.without("ce_source")),
    PARTITION_KEY_WRONG(handled(), record -> record.with("ce_partitionkey", "of another")),
    TRACE_PARENT_WRONG(handled(), record -> record.with("traceparent", "00-zz-zz-01")),
    TRACE_PARENT_ALL_ZEROS(
            handled(), record -> record.with("traceparent", "00-" + "0".repeat(32) + "-" + "0".repeat(16) + "-01")),
    TRACE_PARENT_TOO_LONG(handled(), record -> record.with("traceparent", "0".repeat(10_000))),
    TRACE_PARENT_NOT_UTF8(handled(), record -> record.with("traceparent", bytes(0xc3))),
    TRACE_STATE_ALONE(handled(), record -> record.without("traceparent").add("tracestate", ",,=,")),

    HEADER_NOT_UTF8(handled(), record -> record.with("tenant", bytes(0xc3, 0x28))),
    HEADER_WITHOUT_VALUE(handled(), record -> record.with("tenant", (byte[]) null)),
    HEADER_WITHOUT_NAME(handled(), record -> record.with("", "x")),
    HEADER_WITH_NUL(handled(), record -> record.with("ten\0ant", "a\0b")),
    HEADER_TOO_LARGE(handled(), record -> record.with("tenant", "x".repeat(200_000))),
    HEADERS_TOO_MANY(handled(), record -> record.many(1_000)),

    KEY_NULL(handled(), record -> record.key(null)),
    KEY_EMPTY(handled(), record -> record.key(bytes())),
    KEY_NOT_UTF8(handled(), record -> record.key(bytes(0xff, 0))),
    KEY_LARGE(handled(), record -> record.key(new byte[400_000])),

    UNREADABLE_WITH_ALL_KINDS_OF_RUBBISH(
            parkedWithoutHandler("header ce_id is missing"),
            record -> record.without("ce_id")
                    .key(new byte[400_000])
                    .value(new byte[100_000])
                    .with("ten\0ant", bytes(0xc3, 0))
                    .with("", (byte[]) null)
                    .many(100)),
    UNREADABLE_WITHOUT_KEY_AND_VALUE(
            parkedWithoutHandler("header ce_id is missing"),
            record -> record.without("ce_id").key(null).noValue());

    /** What happens to a record. */
    public enum Outcome {
        /** Parked without a handler, because the handler is not known. */
        PARKED_WITHOUT_HANDLER,
        /** Parked for the handler that cannot read it. */
        PARKED_FOR_ITS_HANDLER,
        SKIPPED,
        HANDLED
    }

    /** @param text part of the error with which the record is parked */
    record Expected(Outcome outcome, String text) {}

    public static final String TYPE = "order";

    private final Expected expected;
    private final Consumer<Draft> mistake;

    WrongRecord(Expected expected, Consumer<Draft> mistake) {
        this.expected = expected;
        this.mistake = mistake;
    }

    public Outcome outcome() {
        return expected.outcome();
    }

    public String text() {
        return expected.text();
    }

    public Draft draft() {
        Draft draft = new Draft(this);
        mistake.accept(draft);
        return draft;
    }

    private static Expected parkedWithoutHandler(String text) {
        return new Expected(Outcome.PARKED_WITHOUT_HANDLER, text);
    }

    private static Expected handlers(String text) {
        return new Expected(Outcome.PARKED_FOR_ITS_HANDLER, text);
    }

    private static Expected skipped() {
        return new Expected(Outcome.SKIPPED, "");
    }

    private static Expected handled() {
        return new Expected(Outcome.HANDLED, "");
    }

    private static byte[] bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }

    /** A record under construction. */
    public static final class Draft {
        static final String ORDER = "dev.twinbox.inbox.app.Order";
        public static final String JSON = "{\"id\":\"1\",\"action\":\"\",\"times\":0}";

        public final String id;
        public final RecordHeaders headers = new RecordHeaders();
        public byte @Nullable [] key;
        public byte @Nullable [] value = JSON.getBytes(StandardCharsets.UTF_8);

        private Draft(WrongRecord of) {
            id = of + "-" + UUID.randomUUID();
            key = utf8("key of " + of);
            add(CloudEventHeaders.SPEC_VERSION, CloudEventHeaders.SPEC_VERSION_1_0)
                    .add(CloudEventHeaders.ID, id)
                    .add(CloudEventHeaders.TYPE, TYPE)
                    .add(CloudEventHeaders.SOURCE, "/tests")
                    .add(CloudEventHeaders.TIME, "2026-11-29T12:00:00Z")
                    .add(CloudEventHeaders.CONTENT_TYPE, "application/json")
                    .add(CloudEventHeaders.TRACE_PARENT, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        }

        private Draft without(String header) {
            headers.remove(header);
            return this;
        }

        private Draft with(String header, String text) {
            return with(header, utf8(text));
        }

        private Draft with(String header, byte @Nullable [] bytes) {
            headers.remove(header);
            headers.add(header, bytes);
            return this;
        }

        private Draft add(String header, String text) {
            headers.add(header, utf8(text));
            return this;
        }

        private Draft many(int number) {
            for (int i = 0; i < number; i++) {
                add("header-" + i, "x");
            }
            return this;
        }

        private Draft clear() {
            clearHeaders();
            return key(null).noValue();
        }

        private Draft clearHeaders() {
            for (Header header : headers.toArray()) {
                headers.remove(header.key());
            }
            return this;
        }

        private Draft key(byte @Nullable [] bytes) {
            key = bytes;
            return this;
        }

        private Draft noValue() {
            value = null;
            return this;
        }

        private Draft value(String text) {
            return value(utf8(text));
        }

        private Draft value(byte[] bytes) {
            value = bytes;
            return this;
        }

        /** Makes it a CloudEvent in structured mode with these members. */
        private Draft structured(String members) {
            return clearHeaders()
                    .value("{" + members + "}")
                    .add(CloudEventHeaders.CONTENT_TYPE, "application/cloudevents+json");
        }

        /** Does the same with a version and a type. */
        private Draft event(String members) {
            return structured("\"specversion\":\"1.0\",\"type\":\"" + TYPE + "\"," + members);
        }

        /** Adds this member, an id and the right data. */
        private String member(String name) {
            return "\"id\":\"" + id + "\",\"" + name + "\":" + JSON;
        }

        private static byte[] utf8(String text) {
            return text.getBytes(StandardCharsets.UTF_8);
        }
    }
}
