package dev.twinbox.relay.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The marks of causes are parts of errors that the relay or Kafka's client still writes. */
class ParkedCausesTest {
    private static final Path SOURCES = Path.of("src", "main", "java");

    @ParameterizedTest
    @EnumSource(ParkedCauses.Cause.class)
    void eachMarkIsPartOfAnErrorThatIsWritten(ParkedCauses.Cause cause) throws IOException {
        String sources = sources();

        assertThat(cause.marks())
                .allSatisfy(mark -> assertThat(sources.contains(mark) || isErrorOfKafka(mark))
                        .as(mark)
                        .isTrue());
    }

    /** Text that is joined over lines is one text here. */
    private static String sources() throws IOException {
        try (Stream<Path> files = Files.walk(SOURCES)) {
            StringBuilder text = new StringBuilder();
            List<Path> others = files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> !file.endsWith("ParkedCauses.java"))
                    .toList();
            for (Path file : others) {
                text.append(Files.readString(file));
            }
            return text.toString().replaceAll("\"\\s*\\+\\s*\"", "");
        }
    }

    private static boolean isErrorOfKafka(String mark) {
        try {
            Class.forName("org.apache.kafka.common.errors." + mark);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
