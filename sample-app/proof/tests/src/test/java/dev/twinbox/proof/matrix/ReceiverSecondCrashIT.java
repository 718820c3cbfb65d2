package dev.twinbox.proof.matrix;

import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.twinbox.proof.matrix.ReceiverCrash.Race;
import dev.twinbox.proof.matrix.ReceiverCrash.Seen;
import dev.twinbox.proof.matrix.ReceiverStep.SecondDeath;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/**
 * The receiver's rows of {@code docs/proof/crash-matrix.md} with a second kill. They take as long as all others, so they are
 * a class of their own.
 */
@Tag("proof")
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class ReceiverSecondCrashIT {
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
    Stream<DynamicTest> aReceiverKilledAgainWhileItRecoversDoesWhatEachContractSays() {
        return Stream.of(ReceiverStep.values())
                .flatMap(step -> step.secondDeaths().stream()
                        .map(death -> dynamicTest(
                                death.rows() + " " + step.step() + ", twice", () -> measureTwice(step, death))));
    }

    private static void measureTwice(ReceiverStep step, SecondDeath death) throws SQLException {
        List<Map<Handling, Seen>> seen = new ArrayList<>();
        for (Race race : death.races()) {
            seen.add(crash.killTwice(step, death.kills(), race));
        }
        ReceiverRows.check(death.kills().stream()
                .flatMap(kill -> kill.rows().stream()
                        .map(number -> ReceiverRows.row(
                                number + "b",
                                step.step() + "; killed again " + kill.where(),
                                ReceiverRows.of(number, seen)))));
    }
}
