package dev.twinbox.proof.matrix;

import static org.junit.jupiter.api.Assertions.assertAll;

import dev.twinbox.proof.matrix.ReceiverCrash.Seen;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.function.Executable;

/** The measurements of a receiver as rows of the crash matrix. */
final class ReceiverRows {
    private ReceiverRows() {}

    static List<Seen> of(String number, List<Map<Handling, Seen>> seen) {
        return seen.stream().map(each -> each.get(Handling.of(number))).toList();
    }

    static MatrixRow row(String number, String step, List<Seen> seen) {
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

    /** Checks all rows of a kill, even if one of them fails. */
    static void check(Stream<MatrixRow> rows) {
        assertAll(rows.map(row -> (Executable) () -> CrashMatrix.check(row)).toList());
    }
}
