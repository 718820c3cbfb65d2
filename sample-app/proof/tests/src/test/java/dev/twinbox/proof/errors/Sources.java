package dev.twinbox.proof.errors;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/** The parsed sources of some modules: their files, their constants and what their Javadoc says. */
final class Sources {
    /** A parsed file and the module that holds it. */
    record Unit(String module, CompilationUnitTree tree) {
        String packageName() {
            return String.valueOf(tree.getPackageName());
        }

        String className() {
            return ((ClassTree) tree.getTypeDecls().get(0)).getSimpleName().toString();
        }
    }

    /** The initializer of a static field or enum constant, and the file in which its names are looked up. */
    record Constant(Unit unit, String owner, ExpressionTree value) {}

    private final List<Unit> units = new ArrayList<>();
    private final Map<String, List<Constant>> constants = new HashMap<>();
    private final Map<String, String> javadocs = new HashMap<>();
    private @Nullable Trees trees;

    static Sources of(Path root, List<String> modules) throws IOException {
        Sources sources = new Sources();
        for (String module : modules) {
            try (Stream<Path> files = Files.walk(root.resolve(module).resolve("src/main/java"))) {
                sources.parse(
                        module,
                        files.filter(file -> file.toString().endsWith(".java"))
                                .filter(file -> !file.endsWith("package-info.java"))
                                .sorted()
                                .toList());
            }
        }
        return sources;
    }

    private void parse(String module, List<Path> files) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask)
                    compiler.getTask(null, manager, null, null, null, manager.getJavaFileObjectsFromPaths(files));
            trees = Trees.instance(task);
            for (CompilationUnitTree tree : task.parse()) {
                Unit unit = new Unit(module, tree);
                units.add(unit);
                index(unit, trees);
            }
        }
    }

    private void index(Unit unit, Trees docs) {
        new TreePathScanner<Void, Void>() {
            @Override
            public @Nullable Void visitVariable(VariableTree variable, Void nothing) {
                if (getCurrentPath().getParentPath().getLeaf() instanceof ClassTree owner
                        && variable.getInitializer() != null
                        && variable.getModifiers().getFlags().contains(Modifier.STATIC)) {
                    constants
                            .computeIfAbsent(variable.getName().toString(), name -> new ArrayList<>())
                            .add(new Constant(unit, owner.getSimpleName().toString(), variable.getInitializer()));
                }
                return super.visitVariable(variable, nothing);
            }

            @Override
            public @Nullable Void visitClass(ClassTree type, Void nothing) {
                remember(type, type.getSimpleName().toString());
                return super.visitClass(type, nothing);
            }

            @Override
            public @Nullable Void visitMethod(MethodTree method, Void nothing) {
                remember(method, "");
                return super.visitMethod(method, nothing);
            }

            private void remember(Tree declared, String simpleName) {
                String text = docs.getDocComment(getCurrentPath());
                if (text != null) {
                    javadocs.put(key(declared), text);
                    if (!simpleName.isEmpty()) {
                        javadocs.putIfAbsent(simpleName, text);
                    }
                }
            }
        }.scan(new TreePath(unit.tree()), null);
    }

    private static String key(Tree declared) {
        return "@" + System.identityHashCode(declared);
    }

    List<Unit> units() {
        return units;
    }

    Optional<String> javadoc(Tree declared) {
        return Optional.ofNullable(javadocs.get(key(declared)));
    }

    /** Of a class, by its simple name. */
    Optional<String> javadoc(String simpleName) {
        return Optional.ofNullable(javadocs.get(simpleName));
    }

    /** Constants of one name: those of the asking file first, then those of its package, then those of its module. */
    Optional<Constant> constant(Unit from, @Nullable String owner, String name) {
        List<Constant> found = constants.getOrDefault(name, List.of()).stream()
                .filter(constant -> owner == null || owner.equals(constant.owner()))
                .toList();
        Stream<Constant> ofFile = found.stream().filter(constant -> constant.unit() == from);
        Stream<Constant> imported = found.stream()
                .filter(constant -> isNamed(from, constant.unit().packageName() + "." + constant.owner()));
        Stream<Constant> ofPackage = found.stream()
                .filter(constant ->
                        owner != null && constant.unit().packageName().equals(from.packageName()));
        return Stream.of(ofFile, imported, ofPackage).flatMap(all -> all).findFirst();
    }

    private static boolean isNamed(Unit from, String type) {
        return from.tree().getImports().stream()
                .map(line -> line.getQualifiedIdentifier().toString())
                .anyMatch(line -> line.equals(type) || line.startsWith(type + "."));
    }
}
