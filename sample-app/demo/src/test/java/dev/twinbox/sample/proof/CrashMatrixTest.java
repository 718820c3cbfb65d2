package dev.twinbox.sample.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The committed matrix as a whole; that its rows are true is measured by the tests named {@code …CrashMatrixIT}. */
class CrashMatrixTest {
    private final List<MatrixRow> rows = CrashMatrix.committed();

    @Test
    void every_step_has_its_row() {
        Stream<String> relay = Stream.of(RelayStep.values()).map(RelayStep::number);

        assertThat(rows.stream().map(MatrixRow::number).filter(number -> !number.endsWith("b")))
                .containsExactlyInAnyOrderElementsOf(relay.toList());
        assertThat(rows.stream().map(MatrixRow::number)).contains("A1b", "X1b").doesNotHaveDuplicates();
    }

    @Test
    void every_row_keeps_its_contract() {
        assertThat(rows).allMatch(row -> Contract.of(row.number()).allows(row));
    }

    @Test
    void the_matrix_shows_what_the_weaker_contract_costs() {
        assertThat(rowsOf(Contract.PUBLISH_AT_LEAST_ONCE)).anyMatch(happens(MatrixRow::sentTwice));
    }

    @Test
    void a_row_that_contradicts_its_contract_or_the_committed_one_is_refused() {
        MatrixRow lost = new MatrixRow("A1", "page read", "", "", "", Chance.MAY, Chance.NEVER, Chance.NONE);
        MatrixRow other = new MatrixRow("A1", "page read", "", "", "", Chance.NEVER, Chance.MAY, Chance.NONE);

        assertThatThrownBy(() -> CrashMatrix.compare(lost)).hasMessageContaining("PUBLISH_AT_LEAST_ONCE");
        assertThatThrownBy(() -> CrashMatrix.compare(other)).hasMessageContaining("crash-matrix.md");
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
