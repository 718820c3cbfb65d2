package dev.twinbox.proof.matrix;

import dev.twinbox.proof.matrix.RelayCrash.Race;
import dev.twinbox.proof.matrix.RelayCrash.Seen;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/** The relay's rows of {@code docs/proof/crash-matrix.md}. */
@Tag("proof")
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class RelayCrashMatrixIT {
    private static final List<RelayStep> ALL = List.of(RelayStep.values());

    /** One thread for each contract: a crash is mostly waiting, for a JVM to start or a lease to end. */
    private static ExecutorService threads;

    private static ProofServers servers;

    @BeforeAll
    static void start() {
        servers = new ProofServers();
        threads = Executors.newFixedThreadPool(2);
    }

    @AfterAll
    static void stop() {
        threads.shutdownNow();
        servers.close();
    }

    @TestFactory
    Stream<DynamicTest> aRelayKilledAtAnyStepDoesWhatItsContractSays() {
        return rows(ALL, RelayCrashMatrixIT::measure);
    }

    /** The outcome must not depend on timing. CI leaves this out, because it takes minutes. */
    @Tag("repeat")
    @TestFactory
    Stream<DynamicTest> andSoItDoesOnceMore() {
        return rows(ALL, RelayCrashMatrixIT::measure);
    }

    @TestFactory
    Stream<DynamicTest> andWhenItIsKilledAgainWhileItRecovers() {
        return rows(ALL, RelayCrashMatrixIT::measureSecondKill);
    }

    private interface Measurement {
        MatrixRow of(RelayCrash crash, RelayStep step) throws SQLException;
    }

    /** Each test waits for its row. The rows of both contracts are measured in parallel. */
    private static Stream<DynamicTest> rows(List<RelayStep> wanted, Measurement measurement) {
        Map<RelayStep, CompletableFuture<MatrixRow>> rows = new EnumMap<>(RelayStep.class);
        wanted.forEach(step -> rows.put(step, new CompletableFuture<>()));
        for (boolean exactlyOnce : List.of(false, true)) {
            List<RelayStep> steps = wanted.stream()
                    .filter(step -> step.isExactlyOnce() == exactlyOnce)
                    .toList();
            threads.execute(() -> measureAll(steps, measurement, rows));
        }
        return rows.entrySet().stream()
                .map(row -> DynamicTest.dynamicTest(
                        row.getKey().number() + " " + row.getKey().step(),
                        () -> CrashMatrix.check(row.getValue().get(30, TimeUnit.MINUTES))));
    }

    private static void measureAll(
            List<RelayStep> steps, Measurement measurement, Map<RelayStep, CompletableFuture<MatrixRow>> rows) {
        if (steps.isEmpty()) {
            return;
        }
        try (RelayCrash crash = new RelayCrash(servers, steps)) {
            for (RelayStep step : steps) {
                try {
                    rows.get(step).complete(measurement.of(crash, step));
                } catch (Exception | Error e) {
                    rows.get(step).completeExceptionally(e);
                }
            }
        } catch (Exception | Error e) {
            steps.forEach(step -> rows.get(step).completeExceptionally(e));
        }
    }

    private static MatrixRow measure(RelayCrash crash, RelayStep step) throws SQLException {
        List<Seen> seen = new ArrayList<>();
        for (Race race : step.races()) {
            seen.add(crash.kill(step, race));
        }
        return row(step.number(), step.step(), seen);
    }

    private static MatrixRow measureSecondKill(RelayCrash crash, RelayStep step) throws SQLException {
        // The last race leaves most work behind.
        Race race = step.races().get(step.races().size() - 1);
        Seen seen = crash.killTwice(step, race);
        boolean there = step.pointOfRecovery().equals(step.point());
        return row(
                step.number() + "b",
                step.step() + "; killed again " + (there ? "there" : "when the position was loaded"),
                List.of(seen));
    }

    private static MatrixRow row(String number, String step, List<Seen> seen) {
        return new MatrixRow(
                number,
                step,
                MatrixRow.each(seen, Seen::database),
                MatrixRow.each(seen, Seen::kafka),
                "–",
                Chance.of(seen.stream().map(Seen::lost).toList()),
                Chance.of(seen.stream().map(Seen::sentTwice).toList()),
                Chance.NONE);
    }
}
