package dev.twinbox.proof.errors;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where the remedy of a message begins: at the first clause that says what to do, or what is allowed.
 *
 * <p>A clause begins the message, or follows a full stop, colon, semicolon, comma or closing mark. It says what to do if it
 * begins with one of the {@link #DO verbs}, with a command of ours, or asks a question. It says what is allowed by one of
 * the {@link #ALLOWED words for that}. What comes before is the cause.
 */
final class Remedy {
    private static final Set<String> DO = Set.of(("add allow annotate append ask call change check choose configure "
                    + "connect correct create declare define delete discard do drain drop "
                    + "enable export fix free give grant inject install java keep leave let "
                    + "look lower make map migrate mend move name pass point publish put "
                    + "raise read rebuild register remove rename repair replace report "
                    + "restart restore retry return run say see send separate set shorten "
                    + "start state stop switch take throw try turn upgrade use wait write")
            .split(" "));
    private static final Pattern ALLOWED =
            Pattern.compile("\\b(?:must|has to|have to|allows?|allowed are|are allowed|at most|is needed|"
                    + "are legal|legal are|legal \\w+ are|may have|is read|are read|did you mean)\\b|\\d+ to \\d+");
    private static final Pattern CONDITION = Pattern.compile("(?:If|When|Unless|On|if|when|unless|on) [^.;:,]*[,:] ");
    private static final Pattern COMMAND = Pattern.compile("\"?(?:twinbox-[a-z-]+(?:\\.jar)?) |is the [^.;]*\\?");
    private static final Pattern CLAUSE =
            Pattern.compile("(?<=[.;:,)\"])\\s+(?:- |and |or |then |please |either |so |Remedy: )?");
    private static final Pattern PARAGRAPH =
            Pattern.compile("<b>Remedy\\.</b>\\s*(.*?)\\s*(?=<p>|</?pre>|\\n\\s*@|$)", Pattern.DOTALL);

    private Remedy() {}

    /** @param remedy empty: the message has none */
    record Cut(String cause, String remedy) {}

    static Cut cut(String message) {
        if (isRemedy(message)) {
            return new Cut("", message);
        }
        Matcher clause = CLAUSE.matcher(message);
        while (clause.find()) {
            String rest = message.substring(clause.end());
            if (isRemedy(rest)) {
                return new Cut(message.substring(0, clause.start()).replaceFirst("[.;:,]$", ""), rest);
            }
        }
        return new Cut(message, "");
    }

    private static boolean isRemedy(String clause) {
        Matcher condition = CONDITION.matcher(clause);
        if (condition.lookingAt()) {
            return isRemedy(clause.substring(condition.end()));
        }
        String first = clause.split("[^\\p{L}]", 2)[0].toLowerCase(Locale.ROOT);
        return DO.contains(first)
                || COMMAND.matcher(clause).lookingAt()
                || ALLOWED.matcher(clause.split("[.;:,](?: |$)", 2)[0]).find();
    }

    /** The paragraph that begins with {@code <b>Remedy.</b>}; null: there is none. */
    static @Nullable String inJavadoc(String javadoc) {
        Matcher paragraph = PARAGRAPH.matcher(javadoc);
        return paragraph.find()
                ? paragraph.group(1).replaceAll("\\{@\\w+ ([^}]*)\\}", "`$1`").replaceAll("\\s+", " ")
                : null;
    }
}
