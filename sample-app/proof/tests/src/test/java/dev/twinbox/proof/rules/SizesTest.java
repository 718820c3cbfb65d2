package dev.twinbox.proof.rules;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Classes and methods of the released modules are short enough to be read at once. */
class SizesTest {
    private static final Path ROOT = Path.of(System.getProperty("twinbox.root"));
    private static final int LINES_OF_A_FILE = 350;
    private static final int LINES_OF_A_METHOD = 40;

    private static final List<String> LONG_FILES = new ArrayList<>();
    private static final List<String> LONG_METHODS = new ArrayList<>();

    @BeforeAll
    static void measuresAllSources() throws IOException {
        List<Path> sources = sources();
        assertThat(sources).hasSizeGreaterThan(200);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask)
                    compiler.getTask(null, files, null, null, null, files.getJavaFileObjectsFromPaths(sources));
            SourcePositions positions = Trees.instance(task).getSourcePositions();
            for (CompilationUnitTree unit : task.parse()) {
                measure(unit, positions);
            }
        }
    }

    @Test
    void noFileIsLong() {
        assertThat(LONG_FILES)
                .as("source files of more than %d lines", LINES_OF_A_FILE)
                .isEmpty();
    }

    @Test
    void noMethodIsLong() {
        assertThat(LONG_METHODS)
                .as("methods of more than %d lines", LINES_OF_A_METHOD)
                .isEmpty();
    }

    private static void measure(CompilationUnitTree unit, SourcePositions positions) {
        String file = ROOT.relativize(Path.of(unit.getSourceFile().toUri())).toString();
        long lines = line(unit, positions.getEndPosition(unit, unit));
        if (lines > LINES_OF_A_FILE) {
            LONG_FILES.add(file + ": " + lines);
        }
        new TreeScanner<Void, Void>() {
            @Override
            public Void visitMethod(MethodTree method, Void nothing) {
                long length = end(method) - start(method) + 1;
                if (length > LINES_OF_A_METHOD) {
                    LONG_METHODS.add(file + ", " + method.getName() + ": " + length);
                }
                return super.visitMethod(method, nothing);
            }

            private long start(Tree tree) {
                return line(unit, positions.getStartPosition(unit, tree));
            }

            private long end(Tree tree) {
                return line(unit, positions.getEndPosition(unit, tree));
            }
        }.scan(unit, null);
    }

    private static long line(CompilationUnitTree unit, long position) {
        return position < 0 ? 0 : unit.getLineMap().getLineNumber(position);
    }

    private static List<Path> sources() throws IOException {
        List<Path> found = new ArrayList<>();
        for (String module : ReleasedModules.FOLDERS) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/main/java"))) {
                files.filter(file -> file.toString().endsWith(".java")).forEach(found::add);
            }
        }
        return found;
    }
}
