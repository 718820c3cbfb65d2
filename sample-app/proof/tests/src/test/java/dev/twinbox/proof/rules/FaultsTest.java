package dev.twinbox.proof.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Checks {@code docs/proof/faults.md}: faults that were found by attacking Twinbox from outside, and the tests for them. A
 * test has the number of its fault in its name.
 */
class FaultsTest {

    private static final Path ROOT = Path.of(System.getProperty("twinbox.root"));
    private static final Path DOCUMENT = ROOT.resolve("docs/proof/faults.md");
    private static final int FAULTS = 125;

    private static final Pattern TEST = Pattern.compile("Fault\\d\\d\\w*(?:IT|Test)");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| (\\d+) \\|");

    @Test
    void theDocumentListsEachFaultOnceAndInOrder() throws IOException {
        assertThat(ROW.matcher(Files.readString(DOCUMENT))
                        .results()
                        .map(row -> Integer.valueOf(row.group(1)))
                        .toList())
                .isEqualTo(IntStream.rangeClosed(1, FAULTS).boxed().toList());
    }

    @Test
    void theDocumentListsEachTestOfAFaultAndNoOther() throws IOException {
        Set<String> listed = TEST.matcher(Files.readString(DOCUMENT))
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(listed).isEqualTo(tests());
    }

    @Test
    void eachFaultSaysHowItsTestsWereSeenToFail() throws IOException {
        assertThat(Files.readAllLines(DOCUMENT).stream()
                        .filter(line -> ROW.matcher(line).find()))
                .hasSize(FAULTS)
                .allSatisfy(
                        row -> assertThat(row).matches(".*\\| (yes|yes, fix taken out|in part|by the attack|no) \\|"));
    }

    private static Set<String> tests() throws IOException {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.filter(file -> file.toString().contains("src/test/java"))
                    .map(file -> file.getFileName().toString().replace(".java", ""))
                    .filter(name -> TEST.matcher(name).matches())
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }
}
