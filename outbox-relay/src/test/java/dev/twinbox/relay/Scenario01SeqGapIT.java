package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.RelayProcess;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** SEQ-GAP: sequence numbers are drawn at the insert, rows appear at the commit. */
class Scenario01SeqGapIT {
    private static final int WRITERS = 2;

    @Test
    void anEventWithALowerNumberThatCommitsLaterArrives() throws SQLException {
        try (RelayRig rig = RelayRig.create();
                Connection first = rig.connect();
                Connection second = rig.connect()) {
            rig.startRelay(Map.of());
            first.setAutoCommit(false);
            UUID late = rig.insert(first, "one");
            UUID early = rig.insert(second, "two");
            rig.awaitRecords(1);
            assertThat(rig.firstAppearances()).containsExactly(early.toString());

            first.commit();

            rig.awaitRecords(2);
            rig.assertExact();
            assertThat(rig.firstAppearances()).containsExactlyInAnyOrder(early.toString(), late.toString());
        }
    }

    @Test
    @Tag("proof")
    void twoHundredThreadsWithPausesAndRollbacksLoseAndInventNothing() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess relay = rig.startRelay(Map.of());
            List<Process> writers = new ArrayList<>();
            try {
                for (int i = 0; i < WRITERS; i++) {
                    writers.add(startWriter(rig, i));
                }
                for (Process writer : writers) {
                    assertThat(writer.waitFor(3, TimeUnit.MINUTES))
                            .as("writer has ended")
                            .isTrue();
                    assertThat(writer.exitValue()).as("exit code of a writer").isZero();
                }
            } finally {
                writers.forEach(Process::destroyForcibly);
            }
            assertThat(rig.count("select count(*) from " + rig.tables().events()))
                    .isGreaterThan(500);
            rig.assertExact();
            assertThat(relay.terminate()).isZero();
        }
    }

    private static Process startWriter(RelayRig rig, int number) throws IOException {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("surefire.real.class.path", System.getProperty("java.class.path")),
                PausingWriters.class.getName(),
                RelayRig.POSTGRES.jdbcUrl(rig.database()),
                RelayRig.POSTGRES.user(),
                RelayRig.POSTGRES.password(),
                rig.topic(),
                "writer" + number);
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(new File("target", "writer" + number + ".log"))
                .start();
    }
}
