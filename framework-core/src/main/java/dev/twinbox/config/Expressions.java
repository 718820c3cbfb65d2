package dev.twinbox.config;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigValue;
import org.jspecify.annotations.Nullable;

/**
 * Replaces <code>${NAME}</code> in values. Nothing else in a value is special, and what a name brings is taken as it
 * is. Implementations of MicroProfile Config also read <code>$$</code> as <code>$</code> and expand again what they
 * have inserted. Both would change a password without a word.
 */
final class Expressions {
    /** The first group: escaped, so it is no expression. The second one is the name, the third one a default. */
    private static final Pattern EXPRESSION = Pattern.compile("(\\\\)?\\$\\{([A-Za-z0-9_.\\-/\"]+)(?::([^}]*))?}");

    /** A value that a server decrypts or fetches itself. */
    private static final Pattern OF_SERVER = Pattern.compile("\\$\\{[A-Za-z0-9_.\\-]+::");

    private static final String SWITCH = Config.PROPERTY_EXPRESSIONS_ENABLED;

    private final Config config;

    Expressions(Config config) {
        this.config = config;
    }

    /** The text of a value; null if it is unset, or if a name in it is not defined and has no default. */
    @Nullable String resolve(ConfigValue value) {
        String raw = value.getRawValue();
        if (raw == null || OF_SERVER.matcher(raw).find()) {
            return value.getValue();
        }
        return isOff() ? raw : resolve(raw);
    }

    private @Nullable String resolve(String raw) {
        StringBuilder text = new StringBuilder();
        Matcher expression = EXPRESSION.matcher(raw);
        while (expression.find()) {
            String replacement = expression.group(1) == null
                    ? lookUp(expression)
                    : expression.group().substring(1);
            if (replacement == null) {
                return null;
            }
            expression.appendReplacement(text, Matcher.quoteReplacement(replacement));
        }
        return expression.appendTail(text).toString();
    }

    private @Nullable String lookUp(Matcher expression) {
        ConfigValue named = config.getConfigValue(expression.group(2));
        String found = named.getRawValue() == null ? named.getValue() : named.getRawValue();
        return found == null ? expression.group(3) : found;
    }

    private boolean isOff() {
        return "false".equalsIgnoreCase(config.getConfigValue(SWITCH).getRawValue());
    }
}
