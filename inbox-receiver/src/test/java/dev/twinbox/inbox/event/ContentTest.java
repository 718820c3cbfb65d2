package dev.twinbox.inbox.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.inbox.event.TopicFormat.Wrapping;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ContentTest {

    private static final String STRUCTURED = "application/cloudevents+json; charset=UTF-8";

    @Test
    void anIdIsFoundWhereItIsSaidToBe() {
        ConsumerRecord<byte[], byte[]> record = record("the-key", "{\"a\":{\"b/c\":[7,\"x\"]}}");
        record.headers().add("id", utf8("of-header"));

        assertThat(find(record, "header:id")).isEqualTo("of-header");
        assertThat(find(record, "key")).isEqualTo("the-key");
        assertThat(find(record, "json-pointer:/a/b~1c/0")).isEqualTo("7");
        assertThat(find(record, "json-pointer:/a/b~1c/1")).isEqualTo("x");
        assertThat(find(record, "coordinates")).isEqualTo("orders-3-42");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{}|json-pointer:/id is missing",
                "{\"id\":null}|json-pointer:/id is missing",
                "{\"id\":\"\"}|json-pointer:/id is empty",
                "{\"id\":\"a\\u0000b\"}|json-pointer:/id contains U+0000 at index 1",
                "{\"id\":\"a\\ud800b\"}|json-pointer:/id has a lone surrogate",
                "{\"id\":\"a\\udc00\"}|json-pointer:/id has a lone surrogate",
                "{\"id\":1.5}|json-pointer:/id is neither a string nor a whole number",
                "{\"id\":1e999999999}|json-pointer:/id is neither a string nor a whole number",
                "{\"id\":true}|json-pointer:/id is neither a string nor a whole number",
                "{\"id\":{}}|json-pointer:/id is neither a string nor a whole number",
                "{\"id\":|its value of 6 bytes is not JSON",
                "\"id\"|its value is neither a JSON object nor an array, so json-pointer:/id is missing",
            })
    void anIdThatCanNotBeUsedIsNamedAndNeverMadeUp(String value, String problem) {
        assertThatThrownBy(() -> find(record("k", value), "json-pointer:/id"))
                .isInstanceOf(UnreadableRecordException.class)
                .hasMessage(problem);
    }

    @Test
    void anIdIsBoundedWhereverItIs() {
        String longest = "ä".repeat(256);
        assertThat(find(record(longest, null), "key")).isEqualTo(longest);
        assertThatThrownBy(() -> find(record(longest + "a", null), "key"))
                .hasMessage("the record key has more than 512 bytes: 513");
        assertThatThrownBy(() -> find(record("k", "{\"id\":\"" + "x".repeat(513) + "\"}"), "json-pointer:/id"))
                .hasMessage("json-pointer:/id has more than 512 bytes: 513");
    }

    @Test
    void aRecordWithoutKeyOrValueHasNoIdThere() {
        assertThatThrownBy(() -> find(record(null, null), "key")).hasMessage("the record key is missing");
        assertThatThrownBy(() -> find(record(null, null), "json-pointer:/id"))
                .hasMessage("it has no value, so json-pointer:/id is missing");
        assertThatThrownBy(() -> find(record(null, null), "header:id")).hasMessage("header id is missing");
    }

    @Test
    void jsonThatIsNestedBeyondAllReasonOrIsNotUtf8IsUnreadable() {
        assertThatThrownBy(() -> find(record("k", "[".repeat(1_000_000)), "json-pointer:/id"))
                .isInstanceOf(UnreadableRecordException.class);
        ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>("t", 0, 0, null, new byte[] {'"', -61, '"'});
        assertThatThrownBy(() -> find(record, "json-pointer:/id")).hasMessage("its value is not UTF-8");
    }

    @ParameterizedTest
    @ValueSource(strings = {"json-pointer:", "json-pointer:id", "header:", "id", "", "fixed:x"})
    void whatIsNoPlaceOfAnIdIsNone(String text) {
        assertThat(Origin.ofId(text)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"key", "coordinates", "fixed:", "json-pointer:type"})
    void whatIsNoPlaceOfATypeIsNone(String text) {
        assertThat(Origin.ofType(text)).isNull();
    }

    @Test
    void aStructuredEventsAttributesAreReadAsIfTheyWereHeaders() {
        Content content = structured("""
                {"specversion":"1.0","id":"e-1","source":"/shop","type":"order.placed","time":"2026-11-29T12:00:00Z",
                 "subject":"42","datacontenttype":"application/json","comexampleextension":7,"traceparent":null,
                 "data":{"id":"e-1","n":[1,null]}}""");

        assertThat(content.find(Origin.Attribute.ID)).isEqualTo("e-1");
        assertThat(content.find(Origin.Attribute.TYPE)).isEqualTo("order.placed");
        assertThat(text(content)).isEqualTo("{\"id\":\"e-1\",\"n\":[1,null]}");
        assertThat(content.attributes())
                .containsEntry("ce_source", "/shop")
                .containsEntry("ce_time", "2026-11-29T12:00:00Z")
                .containsEntry("ce_subject", "42")
                .containsEntry("ce_comexampleextension", "7")
                .containsEntry("content-type", "application/json")
                .doesNotContainKeys("ce_data", "ce_traceparent");
    }

    @Test
    void dataIsJsonTextOrBytesAsTheEventSays() {
        assertThat(text(structured(event("\"data\":\"a\"")))).isEqualTo("\"a\"");
        assertThat(text(structured(event("\"datacontenttype\":\"text/plain\",\"data\":\"a\""))))
                .isEqualTo("a");
        assertThat(text(structured(event("\"datacontenttype\":\"application/vnd.x+json\",\"data\":\"a\""))))
                .isEqualTo("\"a\"");
        assertThat(text(structured(event("\"data_base64\":\"YQ==\"")))).isEqualTo("a");
        assertThat(structured(event("\"data\":null")).value()).isNull();
        assertThat(structured(event("\"subject\":\"s\"")).value()).isNull();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "[]|its value is not a JSON object, although",
                "{\"specversion\":\"0.3\"}|its specversion is \"0.3\"; structured CloudEvents must have version 1.0",
                "{}|its specversion is null",
                "{\"specversion\":\"1.0\",\"data\":1,\"data_base64\":\"YQ==\"}|it has both data and data_base64",
                "{\"specversion\":\"1.0\",\"data_base64\":\"?\"}|its data_base64 is not Base64",
                "{\"specversion\":\"1.0\",\"id\":{\"a\":1}}|member id is neither a string nor a whole number",
                "{\"specversion\":\"1.0\",\"id\":1.5}|member id is neither a string nor a whole number",
                "{\"specversion\":\"1.0\",\"id\":true}|member id is neither a string nor a whole number",
                "{\"specversion\":\"1.0\",\"type\":[]}|member type is neither a string nor a whole number",
                "{\"specversion\":1.0}|its specversion is 1.0; structured CloudEvents must have version 1.0",
                "{\"specversion\":\"1.0\",\"data_base64\":1}|its data_base64 is not a string",
                "{\"specversion\":\"1.0\",\"datacontenttype\":\"text/plain\","
                        + "\"data\":\"\\ud800\"}|its value has a lone surrogate",
            })
    void aStructuredEventThatIsNoneIsUnreadable(String value, String problem) {
        assertThatThrownBy(() -> structured(value))
                .isInstanceOf(UnreadableRecordException.class)
                .hasMessageStartingWith(problem);
    }

    @Test
    void aStructuredEventWithoutIdIsNotGivenOne() {
        ConsumerRecord<byte[], byte[]> record = record("k", event("\"data\":1"));
        record.headers().add("content-type", utf8(STRUCTURED)).add("ce_id", utf8("of-header"));

        assertThatThrownBy(() -> Content.of(record, Wrapping.NONE).find(Origin.Attribute.ID))
                .hasMessage("member id is missing");
    }

    @Test
    void anotherFormatOfStructuredEventsIsNotTakenForBinaryMode() {
        ConsumerRecord<byte[], byte[]> record = record("k", "x");
        record.headers().add("content-type", utf8("Application/CloudEvents+avro"));

        assertThatThrownBy(() -> Content.of(record, Wrapping.NONE))
                .hasMessageStartingWith("its content-type is application/cloudevents+avro");
    }

    @Test
    void whatKafkaConnectPutsAroundAValueIsTakenOff() {
        String schema = "{\"type\":\"string\",\"optional\":true}";
        assertThat(connect("\"{\\\"id\\\":1}\"")).isEqualTo("{\"id\":1}");
        assertThat(connect("{\"schema\":" + schema + ",\"payload\":\"{\\\"id\\\":1}\"}"))
                .isEqualTo("{\"id\":1}");
        assertThat(connect("{\"schema\":{\"type\":\"struct\"},\"payload\":{\"id\":1}}"))
                .isEqualTo("{\"id\":1}");
        assertThat(connect("{\"schema\":{\"type\":\"bytes\"},\"payload\":\"YQ==\"}"))
                .isEqualTo("a");
        assertThat(connect("{\"id\": 1}")).as("by another converter, untouched").isEqualTo("{\"id\": 1}");
        assertThat(connect("{\"schema\":1,\"payload\":2,\"more\":3}")).contains("\"more\":3");
        assertThat(connect("{\"schema\":" + schema + ",\"payload\":null}")).isNull();
        assertThat(connect("null")).isNull();
        assertThat(connect(null)).isNull();
    }

    @Test
    void aKeyOfKafkaConnectIsUnwrappedTooAndOneOfAnotherConverterIsLeft() {
        String wrapped = "{\"schema\":{\"type\":\"string\"},\"payload\":\"o-1\"}";
        assertThat(Content.of(record(wrapped, null), Wrapping.CONNECT_JSON).keyText())
                .isEqualTo("o-1");
        assertThat(Content.of(record("\"o-1\"", null), Wrapping.CONNECT_JSON).keyText())
                .isEqualTo("o-1");
        assertThat(Content.of(record("o-1", null), Wrapping.CONNECT_JSON).keyText())
                .isEqualTo("o-1");
        assertThat(Content.of(record(wrapped, null), Wrapping.CONNECT_JSON).find(new Origin.Key()))
                .isEqualTo("o-1");
    }

    private static @Nullable String connect(@Nullable String value) {
        byte[] unwrapped = Content.of(record("k", value), Wrapping.CONNECT_JSON).value();
        return unwrapped == null ? null : new String(unwrapped, StandardCharsets.UTF_8);
    }

    private static String event(String members) {
        return "{\"specversion\":\"1.0\",\"type\":\"t\"," + members + "}";
    }

    private static Content structured(String value) {
        ConsumerRecord<byte[], byte[]> record = record("k", value);
        record.headers().add("content-type", utf8(STRUCTURED));
        return Content.of(record, Wrapping.NONE);
    }

    private static String text(Content content) {
        return new String(Objects.requireNonNull(content.value()), StandardCharsets.UTF_8);
    }

    private static String find(ConsumerRecord<byte[], byte[]> record, String origin) {
        return Content.of(record, Wrapping.NONE).find(Objects.requireNonNull(Origin.ofId(origin)));
    }

    private static ConsumerRecord<byte[], byte[]> record(@Nullable String key, @Nullable String value) {
        return new ConsumerRecord<>(
                "orders", 3, 42, key == null ? null : utf8(key), value == null ? null : utf8(value));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
