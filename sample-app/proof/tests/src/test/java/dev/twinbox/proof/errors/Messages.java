package dev.twinbox.proof.errors;

import com.sun.source.tree.AssignmentTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.ConditionalExpressionTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LambdaExpressionTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.ReturnTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import dev.twinbox.proof.errors.Sources.Unit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Finds in the sources what is thrown or reported to those who use or operate the software. */
final class Messages {
    /** Exceptions that a user sees. Others are caught and waited out, or mean a bug. */
    private static final Set<String> EXCEPTIONS = Set.of(
            "AlreadyDoneException",
            "IllegalArgumentException",
            "InvalidConfigurationException",
            "InvalidEventException",
            "ParameterException",
            "RelayException",
            "SchemaException",
            "StaleLockException",
            "TransactionRequiredException",
            "TwinboxException",
            "UnreadableRecordException",
            "UnreadableRowException");

    /** Collections of problems: what is added to them is reported together. */
    private static final Set<String> COLLECTED = Set.of("problems", "breaches", "warnings");

    private static final Pattern INSIDE = Pattern.compile("\\.(?:relay|inbox)\\.(?:engine|event|http|jdbc|kafka|log)$");
    private static final Set<String> REPORTING = Set.of("problem", "report");

    /** The end of a message that only heads a list of problems, each of which has its own remedy. */
    private static final String LIST = " - " + Wording.VARIABLE;

    private final Sources sources;
    private final Wording wording;
    private final List<Message> found = new ArrayList<>();

    private Messages(Sources sources) {
        this.sources = sources;
        wording = new Wording(sources);
    }

    static List<Message> in(Sources sources) {
        Messages messages = new Messages(sources);
        sources.units().forEach(unit -> messages.new Search(unit).scan(new TreePath(unit.tree()), null));
        return messages.found;
    }

    private final class Search extends TreePathScanner<Void, Void> {
        private final Unit unit;

        Search(Unit unit) {
            this.unit = unit;
        }

        @Override
        public @Nullable Void visitNewClass(NewClassTree made, Void nothing) {
            List<? extends ExpressionTree> arguments = made.getArguments();
            String type = made.getIdentifier().toString();
            if (type.equals("InvalidConfigurationException")) {
                reportLast(type, arguments);
            } else if (EXCEPTIONS.contains(type) && !isOwnCheck(type)) {
                reportFirst(type, arguments);
            } else if (arguments.size() > 1 && arguments.get(0).toString().endsWith("Exception.class")) {
                reportRefusal(arguments);
            }
            return super.visitNewClass(made, nothing);
        }

        /** Inside, an illegal argument is a bug of ours and no user's. */
        private boolean isOwnCheck(String type) {
            return type.equals("IllegalArgumentException")
                    && (INSIDE.matcher(unit.packageName()).find()
                            || unit.className().endsWith("Exception"));
        }

        @Override
        public @Nullable Void visitMethodInvocation(MethodInvocationTree call, Void nothing) {
            List<? extends ExpressionTree> arguments = call.getArguments();
            if (call.getMethodSelect() instanceof IdentifierTree name) {
                if (REPORTING.contains(name.getName().toString())) {
                    reportLast(Message.PROBLEM, arguments);
                }
            } else if (call.getMethodSelect() instanceof MemberSelectTree method) {
                reportOn(
                        method.getExpression().toString(),
                        method.getIdentifier().toString(),
                        arguments);
            }
            return super.visitMethodInvocation(call, nothing);
        }

        private void reportOn(String target, String name, List<? extends ExpressionTree> arguments) {
            if (COLLECTED.contains(target) && Set.of("add", "put").contains(name)) {
                reportLast(Message.PROBLEM, arguments);
            } else if (target.equals("LOG") && (name.equals("error") || isErrorLine(arguments))) {
                reportFirst(Message.LOGGED, arguments);
            } else if (target.equals("err") && name.equals("println")) {
                reportFirst(Message.PRINTED, arguments);
            } else if (target.equals("ParkReason")) {
                reportLast(Message.PARKED, arguments);
            } else if (name.matches("trouble|record\\w+Failure")) {
                reportLast(Message.READINESS, arguments);
            }
        }

        private boolean isErrorLine(List<? extends ExpressionTree> arguments) {
            return !arguments.isEmpty() && arguments.get(0).toString().equals("Level.ERROR");
        }

        /** A method of this name makes the list of its problems, one text for each element of another list. */
        @Override
        public @Nullable Void visitLambdaExpression(LambdaExpressionTree lambda, Void nothing) {
            if (lambda.getBody() instanceof ExpressionTree text && isIn("problems")) {
                report(Message.PROBLEM, text, null);
            }
            return super.visitLambdaExpression(lambda, nothing);
        }

        private boolean isIn(String methodName) {
            for (TreePath path = getCurrentPath(); path != null; path = path.getParentPath()) {
                if (path.getLeaf() instanceof MethodTree method) {
                    return method.getName().contentEquals(methodName);
                }
            }
            return false;
        }

        @Override
        public @Nullable Void visitVariable(VariableTree variable, Void nothing) {
            if (variable.getName().contentEquals("cause") && variable.getInitializer() != null) {
                report(Message.READINESS, variable.getInitializer(), null);
            }
            return super.visitVariable(variable, nothing);
        }

        @Override
        public @Nullable Void visitAssignment(AssignmentTree assigned, Void nothing) {
            if (assigned.getVariable().toString().equals("cause")) {
                report(Message.READINESS, assigned.getExpression(), null);
            }
            return super.visitAssignment(assigned, nothing);
        }

        private void reportFirst(String kind, List<? extends ExpressionTree> arguments) {
            for (ExpressionTree argument : arguments) {
                if (report(kind, argument, exitCode(arguments))) {
                    return;
                }
            }
        }

        private void reportLast(String kind, List<? extends ExpressionTree> arguments) {
            if (!arguments.isEmpty()) {
                report(kind, arguments.get(arguments.size() - 1), exitCode(arguments));
            }
        }

        /** A text that marks its remedy itself is part of messages elsewhere. */
        @Override
        public @Nullable Void visitReturn(ReturnTree returned, Void nothing) {
            if (returned.getExpression() != null) {
                String text = wording.of(returned.getExpression(), unit, getCurrentPath());
                if (text.contains("Remedy: ") && !text.startsWith(Wording.VARIABLE)) {
                    found.add(new Message(Message.READINESS, unit, null, text, null));
                }
            }
            return super.visitReturn(returned, nothing);
        }

        /** A row of a table of exceptions: the exception first, the remedy last. */
        private void reportRefusal(List<? extends ExpressionTree> arguments) {
            String exception = arguments.get(0).toString().replace(".class", "");
            String remedy = wording.of(arguments.get(arguments.size() - 1), unit, getCurrentPath());
            if (Wording.isWritten(remedy)) {
                found.add(new Message(Message.REFUSED, unit, null, exception, remedy));
            }
        }

        /** Two wordings of one argument are two messages. */
        private boolean report(String kind, ExpressionTree argument, @Nullable String exitCode) {
            if (argument instanceof ParenthesizedTree inner) {
                return report(kind, inner.getExpression(), exitCode);
            } else if (argument instanceof ConditionalExpressionTree either) {
                return report(kind, either.getTrueExpression(), exitCode)
                        | report(kind, either.getFalseExpression(), exitCode);
            } else if (argument instanceof MethodInvocationTree list
                    && list.getMethodSelect().toString().equals("List.of")) {
                list.getArguments().forEach(element -> report(kind, element, exitCode));
                return true;
            }
            String text = wording.of(argument, unit, getCurrentPath());
            if (!Wording.isWritten(text)) {
                return false;
            }
            Message message = new Message(kind, unit, exitCode, text, catalogue(kind));
            if (message.remedy() != null || !text.endsWith(LIST)) {
                found.add(message);
            }
            return true;
        }

        private @Nullable String exitCode(List<? extends ExpressionTree> arguments) {
            return arguments.stream()
                    .map(Object::toString)
                    .filter(argument -> argument.startsWith("ExitCode."))
                    .map(argument -> argument.substring("ExitCode.".length()))
                    .findFirst()
                    .orElse(null);
        }

        /** The remedy that Javadoc names: that of the method, of its class, of the exception. */
        private @Nullable String catalogue(String kind) {
            for (TreePath path = getCurrentPath(); path != null; path = path.getParentPath()) {
                Tree leaf = path.getLeaf();
                String named = leaf instanceof MethodTree || leaf instanceof ClassTree
                        ? Remedy.inJavadoc(sources.javadoc(leaf).orElse(""))
                        : null;
                if (named != null) {
                    return named;
                }
            }
            return Remedy.inJavadoc(sources.javadoc(kind).orElse(""));
        }
    }
}
