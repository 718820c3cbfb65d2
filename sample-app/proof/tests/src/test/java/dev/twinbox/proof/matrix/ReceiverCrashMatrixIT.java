package dev.twinbox.proof.matrix;

import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.twinbox.proof.matrix.ReceiverCrash.Race;
import dev.twinbox.proof.matrix.ReceiverCrash.Seen;
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

/** The receiver's rows of {@code docs/proof/crash-matrix.md}, except those of {@link ReceiverSecondCrashIT}. */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class ReceiverCrashMatrixIT {
    /** The steps at which the contracts differ. */
    private static final Set<ReceiverStep> AROUND_THE_COMMIT =
            EnumSet.of(ReceiverStep.BEFORE_COMMIT, ReceiverStep.AFTER_COMMIT);

    private static ReceiverCrash crash;

    @BeforeAll
    static void start() throws SQLException {
        crash = ReceiverCrash.ofThisJvm();
    }

    @AfterAll
    static void stop() {
        crash.rest();
    }

    @TestFactory
    Stream<DynamicTest> aReceiverKilledAroundItsCommitDoesWhatEachContractSays() {
        return rows(AROUND_THE_COMMIT);
    }

    @Tag("proof")
    @TestFactory
    Stream<DynamicTest> andSoItDoesAtAnyOtherStep() {
        return rows(EnumSet.complementOf(EnumSet.copyOf(AROUND_THE_COMMIT)));
    }

    private static Stream<DynamicTest> rows(Set<ReceiverStep> steps) {
        return steps.stream().map(step -> dynamicTest(step.rows() + " " + step.step(), () -> measure(step)));
    }

    private static void measure(ReceiverStep step) throws SQLException {
        List<Map<Handling, Seen>> seen = new ArrayList<>();
        for (Race race : step.races()) {
            seen.add(crash.kill(step, race));
        }
        ReceiverRows.check(step.rows().stream()
                .map(number -> ReceiverRows.row(number, step.step(), ReceiverRows.of(number, seen))));
    }
}
