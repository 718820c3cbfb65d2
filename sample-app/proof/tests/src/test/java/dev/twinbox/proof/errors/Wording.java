package dev.twinbox.proof.errors;

import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreeScanner;
import dev.twinbox.proof.errors.Sources.Constant;
import dev.twinbox.proof.errors.Sources.Unit;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The text of a string expression. Constants, local variables, methods of the same class and keys of settings are looked
 * up. {@value #VARIABLE} stands for what only the running program knows. Of two wordings the longer one is taken.
 */
final class Wording {
    static final String VARIABLE = "…";
    private static final int DEPTH = 6;

    private final Sources sources;

    Wording(Sources sources) {
        this.sources = sources;
    }

    /** @param place the expression's path; names are looked up from there */
    String of(ExpressionTree expression, Unit unit, TreePath place) {
        return new Reading(unit, place, DEPTH)
                .text(expression)
                .replaceAll("(?<!\\$)\\{\\w*\\}", VARIABLE)
                .replace("''", "'")
                .replaceAll("(?:" + VARIABLE + "[\"' ]{0,3}){2,}", VARIABLE + " ")
                .replaceAll("\\s+", " ")
                .strip();
    }

    /** Whether somebody has written it, rather than handing on another message. */
    static boolean isWritten(String text) {
        return text.replaceAll("\\S*twinbox\\.\\S*", "").split("\\P{L}+").length > 2;
    }

    private final class Reading {
        private final Unit unit;
        private final @Nullable TreePath place;
        private final int depth;

        Reading(Unit unit, @Nullable TreePath place, int depth) {
            this.unit = unit;
            this.place = place;
            this.depth = depth;
        }

        String text(@Nullable Tree tree) {
            if (tree instanceof LiteralTree literal) {
                return literal.getValue() == null ? "" : String.valueOf(literal.getValue());
            } else if (tree instanceof ParenthesizedTree inner) {
                return text(inner.getExpression());
            } else if (tree instanceof BinaryTree sum && sum.getKind() == Tree.Kind.PLUS) {
                return text(sum.getLeftOperand()) + text(sum.getRightOperand());
            } else if (tree instanceof ConditionalExpressionTree either) {
                return longer(text(either.getTrueExpression()), text(either.getFalseExpression()));
            } else if (tree instanceof LambdaExpressionTree lambda && lambda.getBody() instanceof ExpressionTree body) {
                return text(body);
            } else if (depth == 0) {
                return VARIABLE;
            } else if (tree instanceof IdentifierTree name) {
                return variable(name.getName().toString())
                        .filter(text -> text.matches("(?s).*\\p{L}.*"))
                        .or(() -> constant(null, name.getName().toString()))
                        .orElse(VARIABLE);
            } else if (tree instanceof MemberSelectTree member) {
                return constant(
                                lastName(member.getExpression()),
                                member.getIdentifier().toString())
                        .orElse(VARIABLE);
            }
            return tree instanceof MethodInvocationTree call ? called(call) : VARIABLE;
        }

        private String longer(String one, String other) {
            return one.replace(VARIABLE, "").length()
                            >= other.replace(VARIABLE, "").length()
                    ? one
                    : other;
        }

        private String called(MethodInvocationTree call) {
            if (call.getMethodSelect() instanceof IdentifierTree name) {
                return returned(name.getName().toString())
                        .filter(Wording::isWritten)
                        .orElse(VARIABLE);
            }
            MemberSelectTree method = (MemberSelectTree) call.getMethodSelect();
            String name = method.getIdentifier().toString();
            if (name.equals("formatted")) {
                return text(method.getExpression())
                        .replaceAll("%[a-z]", VARIABLE)
                        .replace("%n", " ");
            } else if (name.equals("orElse")) {
                return text(call.getArguments().get(0));
            } else if (name.equals("replace") || name.equals("strip")) {
                return text(method.getExpression());
            } else if (name.equals("key")) {
                return key(method.getExpression()).orElse(VARIABLE);
            } else if (name.equals("text") && constantOf(method.getExpression()).isPresent()) {
                return firstText(constantOf(method.getExpression()).orElseThrow());
            }
            return VARIABLE;
        }

        private Optional<String> key(ExpressionTree setting) {
            return constantOf(setting).map(constant -> {
                String first = firstText(constant);
                String prefix = first.contains("twinbox.")
                        ? ""
                        : sources.constant(constant.unit(), null, "PREFIX")
                                .map(found -> elsewhere(found).text(found.value()))
                                .orElse("");
                return prefix + first;
            });
        }

        private Optional<Constant> constantOf(ExpressionTree name) {
            if (name instanceof IdentifierTree plain) {
                return sources.constant(unit, null, plain.getName().toString());
            }
            return name instanceof MemberSelectTree member
                    ? sources.constant(
                            unit,
                            lastName(member.getExpression()),
                            member.getIdentifier().toString())
                    : Optional.empty();
        }

        /** The first argument of the call that makes a constant. */
        private String firstText(Constant constant) {
            ExpressionTree value = constant.value();
            while (value instanceof MethodInvocationTree chained
                    && chained.getMethodSelect() instanceof MemberSelectTree member
                    && member.getExpression() instanceof MethodInvocationTree inner) {
                value = inner;
            }
            List<? extends ExpressionTree> arguments = value instanceof MethodInvocationTree call
                    ? call.getArguments()
                    : value instanceof NewClassTree made ? made.getArguments() : List.of();
            return arguments.isEmpty() ? VARIABLE : elsewhere(constant).text(arguments.get(0));
        }

        private Optional<String> constant(@Nullable String owner, String name) {
            return sources.constant(unit, owner, name)
                    .map(constant -> elsewhere(constant).text(constant.value()));
        }

        private Reading elsewhere(Constant constant) {
            return new Reading(constant.unit(), null, depth - 1);
        }

        private @Nullable String lastName(ExpressionTree owner) {
            return owner instanceof IdentifierTree name
                    ? name.getName().toString()
                    : owner instanceof MemberSelectTree member
                            ? member.getIdentifier().toString()
                            : null;
        }

        private Optional<String> variable(String name) {
            MethodTree method = enclosing(MethodTree.class);
            Longest found = new Longest(new Reading(unit, place, depth - 1)) {
                @Override
                public @Nullable Void visitVariable(VariableTree variable, Void nothing) {
                    if (variable.getName().contentEquals(name) && variable.getInitializer() != null) {
                        read(variable.getInitializer());
                    }
                    return super.visitVariable(variable, nothing);
                }

                @Override
                public @Nullable Void visitAssignment(AssignmentTree assigned, Void nothing) {
                    if (assigned.getVariable().toString().equals(name)) {
                        read(assigned.getExpression());
                    }
                    return super.visitAssignment(assigned, nothing);
                }
            };
            found.scan(method, null);
            return Optional.ofNullable(found.text);
        }

        private Optional<String> returned(String name) {
            Longest found = new Longest(new Reading(unit, place, depth - 1)) {
                @Override
                public @Nullable Void visitReturn(ReturnTree returned, Void nothing) {
                    read(returned.getExpression());
                    return null;
                }
            };
            ClassTree type = enclosing(ClassTree.class);
            if (type != null) {
                type.getMembers().stream()
                        .filter(member -> member instanceof MethodTree method
                                && method.getName().contentEquals(name)
                                && String.valueOf(method.getReturnType()).equals("String"))
                        .forEach(member -> {
                            TreePath inside = new TreePath(place, member);
                            found.from(new Reading(unit, inside, depth - 1));
                            found.scan(member, null);
                        });
            }
            return Optional.ofNullable(found.text);
        }

        private <T extends Tree> @Nullable T enclosing(Class<T> kind) {
            for (TreePath path = place; path != null; path = path.getParentPath()) {
                if (kind.isInstance(path.getLeaf())) {
                    return kind.cast(path.getLeaf());
                }
            }
            return null;
        }
    }

    /** Keeps the longest of the texts that it reads. */
    private abstract static class Longest extends TreeScanner<Void, Void> {
        private Reading reading;

        @Nullable String text;

        Longest(Reading reading) {
            this.reading = reading;
        }

        void from(Reading other) {
            reading = other;
        }

        void read(@Nullable Tree expression) {
            String read = reading.text(expression);
            text = text == null ? read : reading.longer(text, read);
        }
    }
}
