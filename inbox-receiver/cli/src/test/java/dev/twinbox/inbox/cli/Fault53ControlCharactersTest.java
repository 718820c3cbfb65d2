package dev.twinbox.inbox.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.ParkedEvent;
import dev.twinbox.ParkedEvent.RawHeader;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Escape sequences in a record's key, header or value reached the terminal of the operator who listed it. */
class Fault53ControlCharactersTest {

    private static final String CLEAR_SCREEN = "\u001b[2J";

    private static final ParkedEvent EVENT = new ParkedEvent(
            1,
            "group",
            "handler",
            "id\u009b2J",
            "type" + CLEAR_SCREEN,
            ParkedEvent.State.DEAD,
            "orders",
            0,
            7,
            null,
            ("key" + CLEAR_SCREEN).getBytes(UTF_8),
            ("value" + CLEAR_SCREEN).getBytes(UTF_8),
            List.of(new RawHeader("h", CLEAR_SCREEN.getBytes(UTF_8))),
            1,
            "error" + CLEAR_SCREEN,
            Instant.EPOCH,
            null,
            null);

    @Test
    void aLineHasNoControlCharactersButTabs() {
        assertThat(ParkedText.line(EVENT).replace("\t", ""))
                .doesNotContainPattern("\\p{Cc}")
                .contains("key [2J");
    }

    @Test
    void aPageHasNoControlCharacters() {
        assertThat(String.join("", ParkedText.page(EVENT)))
                .doesNotContainPattern("\\p{Cc}")
                .contains("value\uFFFD[2J", "h = \uFFFD[2J", "id\uFFFD2J");
    }
}
