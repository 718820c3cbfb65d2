package dev.twinbox.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ReturnedEventsTest {

    @Test
    void nothingIsPublishedForNullAndForWhatIsEmpty() {
        assertThat(ReturnedEvents.of(null)).isEqualTo(new ReturnedEvents(List.of(), null));
        assertThat(ReturnedEvents.of(Optional.empty()).events()).isEmpty();
        assertThat(ReturnedEvents.of(List.of()).events()).isEmpty();
        assertThat(ReturnedEvents.of(Stream.of()).events()).isEmpty();
    }

    @Test
    void theCallerGetsTheVeryObject() {
        List<String> list = Arrays.asList("a", null);
        Optional<String> optional = Optional.of("a");

        assertThat(ReturnedEvents.of(list).result()).isSameAs(list);
        assertThat(ReturnedEvents.of(optional).result()).isSameAs(optional);
        assertThat(ReturnedEvents.of("a")).isEqualTo(new ReturnedEvents(List.of("a"), "a"));
        assertThat(ReturnedEvents.of(list).events()).hasSize(2);
    }

    @Test
    void aStreamIsReadAndClosedAndTheCallerGetsAnotherOne() {
        AtomicBoolean closed = new AtomicBoolean();
        ReturnedEvents returned = ReturnedEvents.of(Stream.of("a", "b").onClose(() -> closed.set(true)));

        assertThat(closed).isTrue();
        assertThat(returned.events().toString()).isEqualTo("[a, b]");
        assertThat(((Stream<?>) returned.result()).map(Object::toString)).containsExactly("a", "b");
    }
}
