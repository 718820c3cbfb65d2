package dev.twinbox.proof.matrix;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The document with the committed rows. The measured rows are written to {@code target/crash-matrix.md}, a copy of the
 * document. With the system property {@value #WRITE} = true they are written to the document itself.
 */
final class CrashMatrix {
    /** Rewrites the committed document instead of comparing it. */
    static final String WRITE = "twinbox.it.write-matrix";

    private static final Path ROOT = Path.of(System.getProperty("twinbox.root"));
    private static final Path COMMITTED = ROOT.resolve("docs/proof/crash-matrix.md");
    private static final Path MEASURED = Path.of("target", "crash-matrix.md");
    private static final Path LOCK = Path.of("target", "crash-matrix.lock");

    private CrashMatrix() {}

    static List<MatrixRow> committed() {
        return read(COMMITTED).stream()
                .filter(MatrixRow::isRow)
                .map(MatrixRow::parse)
                .toList();
    }

    /**
     * Writes the measured row, and compares it.
     *
     * @throws AssertionError if it differs from the committed row or breaks the contract; the message says how to
     *     accept it
     */
    static synchronized void check(MatrixRow measured) {
        try (FileChannel channel = FileChannel.open(LOCK, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock ignored = channel.lock()) { // other classes of the matrix run in other JVMs
            writeDown(measured);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot lock the crash matrix", e);
        }
        compare(measured);
    }

    private static void writeDown(MatrixRow measured) {
        boolean write = Boolean.getBoolean(WRITE);
        write(MEASURED, with(measured, read(Files.exists(MEASURED) && !write ? MEASURED : COMMITTED)));
        if (write) {
            write(COMMITTED, with(measured, read(COMMITTED)));
        }
    }

    /** The second half of {@link #check}. */
    static void compare(MatrixRow measured) {
        Contract contract = Contract.of(measured.number());
        assertThat(contract.allows(measured))
                .as("%s is kept by row %s", contract, measured.line())
                .isTrue();
        assertThat(committed())
                .as("docs/proof/crash-matrix.md; if what was measured is right, -D%s=true writes it", WRITE)
                .contains(measured);
    }

    private static List<String> with(MatrixRow row, List<String> lines) {
        List<String> changed = new ArrayList<>(lines);
        int at = lines.indexOf("<!-- rows " + Contract.of(row.number()).prefix() + " -->") + 3;
        if (at < 3) {
            throw new IllegalStateException("docs/proof/crash-matrix.md has no table for row " + row.number());
        }
        while (at < changed.size()
                && MatrixRow.isRow(changed.get(at))
                && order(MatrixRow.parse(changed.get(at)).number()) < order(row.number())) {
            at++;
        }
        if (at < changed.size()
                && MatrixRow.isRow(changed.get(at))
                && MatrixRow.parse(changed.get(at)).number().equals(row.number())) {
            changed.remove(at);
        }
        changed.add(at, row.line());
        return changed;
    }

    private static int order(String number) {
        int again = number.endsWith("b") ? 1 : 0;
        return 2 * Integer.parseInt(number.substring(1, number.length() - again)) + again;
    }

    private static List<String> read(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read the crash matrix", e);
        }
    }

    private static void write(Path file, List<String> lines) {
        try {
            Files.write(file, lines);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write the crash matrix", e);
        }
    }
}
