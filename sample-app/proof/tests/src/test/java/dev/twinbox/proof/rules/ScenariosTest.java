package dev.twinbox.proof.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Checks {@code docs/proof/scenarios.md}: faults that users of such libraries have reported, and the tests for them. A test
 * has the number of its scenario in its name. The few tests without a number are listed here.
 */
class ScenariosTest {

    private static final Path ROOT = Path.of(System.getProperty("twinbox.root"));
    private static final Path DOCUMENT = ROOT.resolve("docs/proof/scenarios.md");

    /** Writes the document, with the results in the target folders, instead of comparing it. */
    private static final boolean WRITE = Boolean.getBoolean("twinbox.it.write-scenarios");

    private static final Pattern NAME = Pattern.compile("Scenario(\\d+)\\w*");
    private static final Pattern RESULT =
            Pattern.compile("Tests run: (\\d+), Failures: (\\d+), Errors: (\\d+), Skipped: (\\d+)");

    private static final Map<Integer, String> SCENARIOS = new TreeMap<>(Map.ofEntries(
            Map.entry(1, "SEQ-GAP: a sequence number is taken at insert, not at commit"),
            Map.entry(3, "ACK-BEFORE-SEND: marked as sent, but the broker does not have it"),
            Map.entry(4, "NO-TX: an event published without a transaction"),
            Map.entry(5, "CDI-FLUSH: an event published during the flush, or after the commit"),
            Map.entry(6, "CHECKED-EX: a handler leaves by a checked exception"),
            Map.entry(7, "TX-TIMEOUT: code that goes on when its transaction has timed out"),
            Map.entry(9, "FLUSH-COMMIT: flushed, then rolled back"),
            Map.entry(10, "DUP-25P02: a duplicate aborts the transaction"),
            Map.entry(11, "DUP-CONC: two copies are handled at the same time"),
            Map.entry(12, "TWO-HANDLERS: several handlers for one event"),
            Map.entry(14, "MARK-FAIL: sent, but the position cannot be saved"),
            Map.entry(15, "ORDER-XID: order of start is not order of commit"),
            Map.entry(16, "ORDER-RETRY: a later event overtakes one that failed"),
            Map.entry(18, "FIRST-SEQ: first events of a new key at the same time"),
            Map.entry(19, "SPLIT-BRAIN: two relays, one of which was stopped for a while"),
            Map.entry(20, "CRASH-CLAIM: a relay is killed and comes back under its old name"),
            Map.entry(22, "CLOCK-SKEW: clocks that run ahead or behind"),
            Map.entry(23, "POISON-ROW: a row that cannot be read"),
            Map.entry(24, "TOO-LARGE: a record that Kafka will never take"),
            Map.entry(25, "OUTAGE-BUDGET: an outage that is longer than all retries"),
            Map.entry(27, "ERRMSG: error texts that are too long or illegal"),
            Map.entry(28, "STARVATION: failing events in front of good ones"),
            Map.entry(30, "NUL: U+0000, lone surrogates and other text"),
            Map.entry(33, "LOB-OID: a payload as a large object"),
            Map.entry(34, "SCHEMA: odd names, least privileges"),
            Map.entry(37, "DB-RESTART: the database stops and restarts"),
            Map.entry(38, "LISTEN-LOST: notifications stop"),
            Map.entry(40, "LOCKS-WHILE-SENDING: a slow send holds locks"),
            Map.entry(41, "TOPIC-MISSING: a topic that does not exist"),
            Map.entry(44, "SLOW-HANDLER: handling outlasts max.poll.interval.ms"),
            Map.entry(45, "DESER-POISON: records that cannot be read"),
            Map.entry(46, "CLASS-RENAME: a class of events is renamed"),
            Map.entry(47, "UNKNOWN-TYPE: no handler takes it, or none understands it"),
            Map.entry(50, "XMIN-BLOAT: an old transaction of another session holds back vacuum"),
            Map.entry(51, "BACKLOG-OOM: a backlog larger than the memory"),
            Map.entry(52, "UNDEPLOY: redeployment leaves something behind"),
            Map.entry(54, "SHUTDOWN: a stop signal in the middle of the work"),
            Map.entry(55, "TRACE: one trace from the request to the handler"),
            Map.entry(58, "SECRETS: secrets in logs, errors, endpoints"),
            Map.entry(60, "DST: clock changes and schedules")));

    /** Tests of several scenarios. */
    private static final Map<Integer, List<String>> OTHERS = Map.of(
            4, List.of("TransactionalWritingIT", "DeploymentIT"),
            5, List.of("TransactionalWritingIT"),
            6, List.of("TransactionalWritingIT"),
            7, List.of("TransactionalWritingIT"),
            9, List.of("TransactionalWritingIT", "PersistenceUnitsTest"),
            50, List.of("OutboxPlansIT", "ParkedPlansIT", "ParkedTableIT"));

    private static final Map<Integer, String> REMARKS = Map.of(
            38,
            "does not arise: nothing is woken by NOTIFY, the relay polls ([architecture](../explanation/architecture.md))",
            50,
            "for ten minutes and with figures: `./sample-app/run bench held-xmin` ([benchmarks](benchmarks.md))");

    @Test
    void everyScenarioHasItsTestsAndTheDocumentListsThem() throws IOException {
        Map<Integer, TreeSet<String>> tests = tests();
        assertThat(SCENARIOS.keySet())
                .as("each number that a test bears is a scenario")
                .containsAll(tests.keySet());
        SCENARIOS
                .keySet()
                .forEach(number -> assertThat(tests.containsKey(number) || REMARKS.containsKey(number))
                        .as("scenario %d has a test", number)
                        .isTrue());

        if (WRITE) {
            Files.writeString(DOCUMENT, document(tests, true));
        }
        assertThat(withoutResults(Files.readString(DOCUMENT)))
                .as("docs/proof/scenarios.md; write it anew with -Dtwinbox.it.write-scenarios=true")
                .isEqualTo(withoutResults(document(tests, false)));
    }

    private static Map<Integer, TreeSet<String>> tests() throws IOException {
        Map<Integer, TreeSet<String>> tests = new TreeMap<>();
        try (Stream<Path> files = Files.walk(ROOT)) {
            files.filter(file -> file.toString().contains("src/test/java")
                            && file.toString().endsWith(".java"))
                    .filter(file -> file.toString().endsWith("IT.java")
                            || file.toString().endsWith("Test.java"))
                    .forEach(file -> numbers(simpleName(file))
                            .forEach(number -> tests.computeIfAbsent(number, n -> new TreeSet<>())
                                    .add(module(file) + ": `" + simpleName(file) + "`")));
        }
        return tests;
    }

    private static List<Integer> numbers(String name) {
        Matcher named = NAME.matcher(name);
        if (named.matches()) {
            return List.of(Integer.valueOf(named.group(1)));
        }
        return OTHERS.entrySet().stream()
                .filter(other -> other.getValue().contains(name))
                .map(Map.Entry::getKey)
                .toList();
    }

    private static String simpleName(Path file) {
        return file.getFileName().toString().replace(".java", "");
    }

    private static String module(Path file) {
        String inside = ROOT.relativize(file).toString();
        return inside.substring(0, inside.indexOf("/src/"));
    }

    private static String document(Map<Integer, TreeSet<String>> tests, boolean withResults) {
        StringBuilder text = new StringBuilder("""
                # Scenarios

                Look up a fault that users of outbox, inbox, queue and Kafka libraries have met and reported.
                The test beside it shows what becomes of it here.

                `ScenariosTest` writes this page. It fails when a scenario has no test, or when this page does not list it.
                The results are those that each test left last when the page was written:

                ```sh
                ./mvnw -Pproof verify
                ./mvnw -pl sample-app/proof/tests -am test -Dtest=ScenariosTest -Dsurefire.failIfNoSpecifiedTests=false \\
                    -Dtwinbox.it.write-scenarios=true
                ```

                | # | scenario | tests | result |
                |---|---|---|---|
                """);
        SCENARIOS.forEach((number, title) -> {
            TreeSet<String> ofScenario = tests.getOrDefault(number, new TreeSet<>());
            String listed = String.join("<br>", ofScenario);
            String remark = REMARKS.getOrDefault(number, "");
            String results = withResults
                    ? String.join(
                            "<br>",
                            ofScenario.stream().map(ScenariosTest::result).toList())
                    : "";
            text.append("| ")
                    .append(number)
                    .append(" | ")
                    .append(title)
                    .append(" | ")
                    .append(listed)
                    .append(listed.isEmpty() || remark.isEmpty() ? "" : "<br>")
                    .append(remark)
                    .append(" | ")
                    .append(results)
                    .append(" |\n");
        });
        return text.toString();
    }

    /** The result of the class's last run, in the module's target folder. */
    private static String result(String test) {
        Path target = ROOT.resolve(test.substring(0, test.indexOf(':'))).resolve("target");
        String ending = "." + test.substring(test.indexOf('`') + 1, test.length() - 1) + ".txt";
        for (String folder : List.of("failsafe-reports", "surefire-reports")) {
            if (!Files.isDirectory(target.resolve(folder))) {
                continue;
            }
            try (Stream<Path> reports = Files.list(target.resolve(folder))) {
                for (Path report :
                        reports.filter(file -> file.toString().endsWith(ending)).toList()) {
                    Matcher told = RESULT.matcher(Files.readString(report));
                    if (told.find()) {
                        boolean failed =
                                !told.group(2).equals("0") || !told.group(3).equals("0");
                        int run = Integer.parseInt(told.group(1)) - Integer.parseInt(told.group(4));
                        return failed ? "FAILED" : run + " passed";
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return "not run";
    }

    private static String withoutResults(String document) {
        return document.replaceAll("\\| [^|\n]*\\|\n", "|\n");
    }
}
