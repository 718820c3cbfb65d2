package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.ParkedState;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Escape sequences in an event's key or header reached the terminal of the operator who listed it. */
class Fault53ControlCharactersTest {

    private static final String CLEAR_SCREEN = "\u001b[2J";

    private static final ParkedRows.Line LINE = new ParkedRows.Line(
            1,
            ParkedState.REFUSED,
            "orders",
            null,
            "key" + CLEAR_SCREEN,
            "id\u009b2J",
            "type" + CLEAR_SCREEN,
            1,
            Instant.EPOCH,
            "error\n" + CLEAR_SCREEN);

    @Test
    void aLineHasNoControlCharactersButTabs() {
        assertThat(ParkedText.line(LINE).replace("\t", ""))
                .doesNotContainPattern("\\p{Cc}")
                .contains("key [2J");
    }

    @Test
    void aPageHasNoControlCharactersButLineBreaks() {
        ParkedRows.Details event = new ParkedRows.Details(
                LINE, 1, null, null, null, null, List.of(new ParkedRows.Header("h", CLEAR_SCREEN)), 0, 0);

        assertThat(String.join("", ParkedText.page(event)).replace("\n", ""))
                .doesNotContainPattern("\\p{Cc}")
                .contains("h = \uFFFD[2J", "id\uFFFD2J");
    }
}
