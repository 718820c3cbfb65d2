package dev.twinbox.sample.proof;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.twinbox.sample.proof.ReceiverCrash.Race;
import dev.twinbox.sample.proof.ReceiverCrash.Seen;
import dev.twinbox.sample.proof.ReceiverStep.SecondDeath;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** The receiver's rows of {@code docs/crash-matrix.md}. */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class ReceiverCrashMatrixIT {
    /** What the contracts differ in. */
    private static final Set<ReceiverStep> AROUND_THE_COMMIT =
            EnumSet.of(ReceiverStep.BEFORE_COMMIT, ReceiverStep.AFTER_COMMIT);

    private static ProofServers servers;
    private static ReceiverCrash crash;

    @BeforeAll
    static void start() throws SQLException {
        servers = new ProofServers();
        crash = new ReceiverCrash(servers);
    }

    @AfterAll
    static void stop() {
        crash.close();
        servers.close();
    }

    @TestFactory
    Stream<DynamicTest> a_receiver_killed_around_its_commit_does_what_each_contract_says() {
        return rows(AROUND_THE_COMMIT);
    }

    @Tag("proof")
    @TestFactory
    Stream<DynamicTest> and_so_it_does_at_any_other_step() {
        return rows(EnumSet.complementOf(EnumSet.copyOf(AROUND_THE_COMMIT)));
    }

    @Tag("proof")
    @TestFactory
    Stream<DynamicTest> and_when_it_is_killed_again_while_it_recovers() {
        return Stream.of(ReceiverStep.values())
                .flatMap(step -> step.secondDeaths().stream()
                        .map(death -> dynamicTest(
                                death.rows() + " " + step.step() + ", twice", () -> measureTwice(step, death))));
    }

    private static Stream<DynamicTest> rows(Set<ReceiverStep> steps) {
        return steps.stream().map(step -> dynamicTest(step.rows() + " " + step.step(), () -> measure(step)));
    }

    private static void measure(ReceiverStep step) throws SQLException {
        List<Map<Handling, Seen>> seen = new ArrayList<>();
        for (Race race : step.races()) {
            seen.add(crash.kill(step, race));
        }
        check(step.rows().stream().map(number -> row(number, step.step(), of(number, seen))));
    }

    private static void measureTwice(ReceiverStep step, SecondDeath death) throws SQLException {
        List<Map<Handling, Seen>> seen = new ArrayList<>();
        for (Race race : death.races()) {
            seen.add(crash.killTwice(step, death.kills(), race));
        }
        check(death.kills().stream()
                .flatMap(kill -> kill.rows().stream()
                        .map(number ->
                                row(number + "b", step.step() + "; killed again " + kill.where(), of(number, seen)))));
    }

    private static List<Seen> of(String number, List<Map<Handling, Seen>> seen) {
        return seen.stream().map(each -> each.get(Handling.of(number))).toList();
    }

    private static MatrixRow row(String number, String step, List<Seen> seen) {
        return new MatrixRow(
                number,
                step,
                MatrixRow.each(seen, Seen::database),
                MatrixRow.each(seen, Seen::kafka),
                MatrixRow.each(seen, Seen::receiver),
                Chance.of(seen.stream().map(Seen::lost).toList()),
                Chance.NONE,
                Chance.of(seen.stream().map(Seen::appliedTwice).toList()));
    }

    /** All rows of the kill, also when one of them is not as it should be. */
    private static void check(Stream<MatrixRow> rows) {
        assertAll(rows.map(row -> (Executable) () -> CrashMatrix.check(row)).toList());
    }
}
