package dev.twinbox.proof.matrix;

import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/** The producer's rows of {@code docs/proof/crash-matrix.md}. */
@Tag("proof")
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class ProducerCrashMatrixIT {
    private static ProofServers servers;
    private static ProducerCrash crash;

    @BeforeAll
    static void start() throws SQLException {
        servers = new ProofServers();
        crash = new ProducerCrash(servers);
    }

    @AfterAll
    static void stop() {
        crash.close();
        servers.close();
    }

    @TestFactory
    Stream<DynamicTest> aServiceKilledAtAnyStepLeavesBothOrNeither() {
        return Stream.of(ProducerStep.values())
                .map(step -> DynamicTest.dynamicTest(
                        step.number() + " " + step.step(),
                        () -> CrashMatrix.check(ProducerCrash.row(step, crash.kill(step)))));
    }
}
