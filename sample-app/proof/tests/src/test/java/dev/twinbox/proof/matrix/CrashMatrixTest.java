package dev.twinbox.proof.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.twinbox.proof.matrix.ReceiverStep.SecondKill;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks the committed matrix as a whole. The tests named {@code …CrashMatrixIT} measure its rows. */
class CrashMatrixTest {
    private static final Path ROOT = Path.of(System.getProperty("twinbox.root"));
    private static final List<String> CODE =
            List.of("framework-core", "outbox-relay", "inbox-receiver", "sample-app/orders", "sample-app/proof/crash");

    private final List<MatrixRow> rows = CrashMatrix.committed();

    @Test
    void everyStepHasItsRow() {
        Stream<String> producer = Stream.of(ProducerStep.values()).map(ProducerStep::number);
        Stream<String> relay = Stream.of(RelayStep.values()).map(RelayStep::number);
        Stream<String> receiver = Stream.of(ReceiverStep.values()).flatMap(step -> step.rows().stream());

        assertThat(numbers().filter(number -> !number.endsWith("b")))
                .containsExactlyInAnyOrderElementsOf(Stream.of(producer, relay, receiver)
                        .flatMap(Function.identity())
                        .toList());
    }

    @Test
    void stepsHaveARowForASecondKill() {
        List<String> ofReceiver = Stream.of(ReceiverStep.values())
                .flatMap(step -> step.secondDeaths().stream())
                .flatMap(death -> death.rows().stream())
                .toList();
        assertThat(ofReceiver)
                .containsExactlyInAnyOrderElementsOf(Stream.of(ReceiverStep.values())
                        .flatMap(step -> step.rows().stream())
                        .toList());
        Stream<String> ofRelay = Stream.of(RelayStep.values()).map(RelayStep::number);
        assertThat(numbers())
                .containsAll(Stream.concat(ofReceiver.stream(), ofRelay)
                        .map(row -> row + "b")
                        .toList())
                .doesNotHaveDuplicates();
    }

    /** A rule for a method that was renamed would never kill. */
    @Test
    void everyKillPointIsAMethodOfTheCode() {
        JavaClasses code = new ClassFileImporter()
                .importPaths(CODE.stream()
                        .map(module -> ROOT.resolve(module).resolve("target/classes"))
                        .toList());
        Stream<KillPoint> producer = Stream.of(ProducerStep.values()).map(ProducerStep::point);
        Stream<KillPoint> relay =
                Stream.of(RelayStep.values()).flatMap(step -> Stream.of(step.point(), step.pointOfRecovery()));
        Stream<KillPoint> receiver = Stream.of(ReceiverStep.values())
                .flatMap(step -> Stream.concat(
                        Stream.of(step.point()),
                        step.secondDeaths().stream()
                                .flatMap(death -> death.kills().stream())
                                .map(SecondKill::point)));

        assertThat(Stream.of(producer, relay, receiver)
                        .flatMap(Function.identity())
                        .filter(point -> !point.type().startsWith("org.postgresql"))
                        .distinct())
                .hasSizeGreaterThan(25)
                .allSatisfy(point -> assertThat(methodsOf(code.get(point.type())))
                        .as("%s", point)
                        .contains(point.method()));
    }

    private static List<String> methodsOf(JavaClass type) {
        return type.getCodeUnits().stream().map(JavaCodeUnit::getName).toList();
    }

    @Test
    void everyRowKeepsItsContract() {
        assertThat(rows).allMatch(row -> Contract.of(row.number()).allows(row));
    }

    @Test
    void theMatrixShowsWhatTheWeakerContractsCost() {
        assertThat(rowsOf(Contract.PUBLISH_AT_LEAST_ONCE)).anyMatch(happens(MatrixRow::sentTwice));
        assertThat(rowsOf(Contract.AT_LEAST_ONCE)).anyMatch(happens(MatrixRow::appliedTwice));
        assertThat(rowsOf(Contract.AT_MOST_ONCE)).anyMatch(happens(MatrixRow::lost));
    }

    @Test
    void aRowThatContradictsItsContractOrTheCommittedOneIsRefused() {
        MatrixRow lost = new MatrixRow("A1", "page read", "", "", "", Chance.MAY, Chance.NEVER, Chance.NONE);
        MatrixRow twice = new MatrixRow("E6", "after commit", "", "", "", Chance.NEVER, Chance.NONE, Chance.MAY);
        MatrixRow other = new MatrixRow("A1", "page read", "", "", "", Chance.NEVER, Chance.MAY, Chance.NONE);

        assertThatThrownBy(() -> CrashMatrix.compare(lost)).hasMessageContaining("PUBLISH_AT_LEAST_ONCE");
        assertThatThrownBy(() -> CrashMatrix.compare(twice)).hasMessageContaining("EXACTLY_ONCE_EFFECT");
        assertThatThrownBy(() -> CrashMatrix.compare(other)).hasMessageContaining("crash-matrix.md");
    }

    private Stream<String> numbers() {
        return rows.stream().map(MatrixRow::number);
    }

    private List<MatrixRow> rowsOf(Contract contract) {
        return rows.stream()
                .filter(row -> Contract.of(row.number()) == contract)
                .toList();
    }

    private interface Cell {
        Chance of(MatrixRow row);
    }

    private static Predicate<MatrixRow> happens(Cell cell) {
        return row -> cell.of(row).compareTo(Chance.MAY) >= 0;
    }
}
