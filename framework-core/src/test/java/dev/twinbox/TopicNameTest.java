package dev.twinbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TopicNameTest {

    @Test
    void aNameThatKafkaTakesIsLegalAndReturned() {
        assertThat(List.of("a", "a.b_c-D9", "...", "-", "x".repeat(249)))
                .allMatch(TopicName::isLegal)
                .allMatch(name -> TopicName.check(name).equals(name));
    }

    @ParameterizedTest(name = "\"{0}\"")
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            ~~  | has 0 characters: Kafka allows 1 to 249
            .   | topic "." is not allowed by Kafka
            ..  | topic ".." is not allowed by Kafka
            a b | topic "a b" has an illegal character at index 1: Kafka allows a-z, A-Z, 0-9, '.', '_' and '-'
            a/b | has an illegal character at index 1
            ä   | has an illegal character at index 0
            """)
    void aNameThatKafkaRefusesIsRefusedWithTheReason(String name, String reason) {
        assertThat(TopicName.isLegal(name)).isFalse();
        assertThatThrownBy(() -> TopicName.check(name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void aLongOrUnprintableNameIsShownSoThatAMessageCanHoldIt() {
        assertThatThrownBy(() -> TopicName.check("x".repeat(250)))
                .hasMessage("topic \"" + "x".repeat(60) + "…\" has 250 characters: Kafka allows 1 to 249");
        assertThatThrownBy(() -> TopicName.check("a\0\uD800")).hasMessageContaining("topic \"aU+0000U+D800\"");
    }
}
