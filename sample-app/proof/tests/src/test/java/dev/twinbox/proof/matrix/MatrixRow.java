package dev.twinbox.proof.matrix;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One row of {@code docs/proof/crash-matrix.md}.
 *
 * @param number unique; its first letter is that of the table
 * @param step after which the process was killed
 * @param database what it held at that moment
 * @param kafka what it held
 * @param receiver what had been applied
 */
record MatrixRow(
        String number,
        String step,
        String database,
        String kafka,
        String receiver,
        Chance lost,
        Chance sentTwice,
        Chance appliedTwice) {

    static boolean isRow(String line) {
        return line.matches("\\| [A-Z][0-9]+b? \\|.*");
    }

    /** Parses the result of {@link #line()}. */
    static MatrixRow parse(String line) {
        List<String> cells =
                Stream.of(line.split("\\|")).skip(1).map(String::strip).toList();
        if (cells.size() != 8) {
            throw new IllegalArgumentException("Not a row of eight cells: " + line);
        }
        return new MatrixRow(
                cells.get(0),
                cells.get(1),
                cells.get(2),
                cells.get(3),
                cells.get(4),
                chance(cells.get(5)),
                chance(cells.get(6)),
                chance(cells.get(7)));
    }

    private static Chance chance(String cell) {
        return Chance.parse(cell.replace("*", ""));
    }

    String line() {
        return "| "
                + String.join(
                        " | ", number, step, database, kafka, receiver, bold(lost), bold(sentTwice), bold(appliedTwice))
                + " |";
    }

    /** A cell for several attempts: the common result, or all different results. */
    static <T> String each(List<T> seen, Function<T, String> what) {
        return seen.stream().map(what).distinct().collect(Collectors.joining(" or "));
    }

    private static String bold(Chance chance) {
        return chance.compareTo(Chance.MAY) < 0 ? chance.toString() : "**" + chance + "**";
    }
}
