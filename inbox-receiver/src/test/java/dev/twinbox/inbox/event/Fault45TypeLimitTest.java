package dev.twinbox.inbox.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.InboxHandler;
import dev.twinbox.TypeName;
import dev.twinbox.inbox.NoSerializer;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

/** Fault 45: publishing, relay and inbox had different limits for an event's type. */
class Fault45TypeLimitTest {

    private static final String LONG = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    private static final String LONGEST = LONG + LONG + LONG + LONG + LONG + LONG + LONG + LONG;

    @SuppressWarnings("unused")
    private static final class Handlers {
        @InboxHandler(topic = "t", type = LONGEST)
        public void longest(String event) {}

        @InboxHandler(topic = "t", type = LONGEST + "x")
        public void tooLong(String event) {}

        @InboxHandler(topic = "t", type = "short", aliases = LONGEST + "x")
        public void formerName(String event) {}
    }

    private static List<String> breaches(String method) {
        Method found = Stream.of(Handlers.class.getDeclaredMethods())
                .filter(each -> each.getName().equals(method))
                .findFirst()
                .orElseThrow();
        List<String> breaches = new java.util.ArrayList<>();
        HandlerDeclaration.of(found, found.getAnnotation(InboxHandler.class)).check("", breaches);
        return breaches;
    }

    @Test
    void aHandlerOfATypeThatNobodyCanPublishIsRefusedAtDeployment() {
        assertThat(LONGEST).hasSize(TypeName.MAX_BYTES);
        assertThat(breaches("longest")).isEmpty();
        assertThat(breaches("tooLong"))
                .singleElement()
                .asString()
                .contains("has 513 bytes, allowed are 512: choose a shorter name");
        assertThat(breaches("formerName")).singleElement().asString().contains("has 513 bytes");
    }

    @Test
    void theInboxReadsWhatCanBePublished() {
        assertThat(received(LONGEST).isReadable()).isTrue();
        assertThat(received(LONGEST + "x").isReadable()).isFalse();
    }

    private static ReceivedEvent received(String type) {
        ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>("t", 0, 0, null, new byte[0]);
        record.headers()
                .add("ce_id", "1".getBytes(StandardCharsets.UTF_8))
                .add("ce_type", type.getBytes(StandardCharsets.UTF_8));
        return ReceivedEvent.of(
                record,
                new Subscription(
                        "g",
                        Map.of(),
                        Aliases.NONE,
                        TopicFormat.OfTopics.CLOUD_EVENTS,
                        UnknownType.SKIP,
                        new NoSerializer()));
    }
}
