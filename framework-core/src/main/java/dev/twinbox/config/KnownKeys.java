package dev.twinbox.config;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Finds misspelt keys and environment variables among known ones and those of others. */
final class KnownKeys {

    private static final int LARGEST_TYPO = 4;

    /** What Kubernetes puts into the environment of a pod for a service, after the name of the service. */
    private static final Pattern SERVICE_LINK =
            Pattern.compile("SERVICE_HOST|SERVICE_PORT(_.*)?|PORT|PORT_\\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?");

    private static final Pattern GUESS = Pattern.compile("[a-z0-9.\"\\[\\]]*");

    private final Set<String> keys;
    private final Predicate<String> isOurs;
    private final Set<String> variables;
    private final List<String> variablePrefixes;
    private final Map<String, String> dropped;

    /**
     * @param isOurs whether a key must be one of these keys; others are ignored
     * @param dropped keys that earlier versions knew, and what to do instead
     */
    KnownKeys(Collection<String> keys, Predicate<String> isOurs, Map<String, String> dropped) {
        this.keys = keys.stream().filter(isOurs).collect(Collectors.toSet());
        this.isOurs = isOurs;
        this.variables = this.keys.stream().map(Setting::environmentVariable).collect(Collectors.toSet());
        this.variablePrefixes =
                this.keys.stream().map(KnownKeys::variablePrefix).distinct().toList();
        this.dropped = new HashMap<>(dropped);
        dropped.forEach((key, advice) -> this.dropped.put(Setting.environmentVariable(key), advice));
    }

    /**
     * The mistakes among names, one sentence each.
     *
     * @param names keys, environment variables, and keys that a source has guessed from a variable
     * @param environment those of the environment
     * @param place where a key is set, put after it; or nothing
     * @param hint what is to be known about keys like this, put at the end; or nothing
     */
    List<String> problems(
            Collection<String> names,
            Set<String> environment,
            UnaryOperator<String> place,
            UnaryOperator<String> hint) {
        return names.stream()
                .filter(name -> environment.contains(name) || !isGuess(name, environment))
                .filter(name -> isUnknownKey(name) || isUnknownVariable(name))
                .sorted()
                .map(name -> environment.contains(name) || isUnknownVariable(name)
                        ? "environment variable " + name
                                + (dropped.containsKey(name)
                                        ? wasDropped(name)
                                        : " stands for no known key" + suggestion(name, variables))
                        : name
                                + place.apply(name)
                                + (dropped.containsKey(name)
                                        ? wasDropped(name)
                                        : " is unknown" + suggestion(name, keys) + hint.apply(name)))
                .toList();
    }

    private String wasDropped(String name) {
        return " is unknown: it was dropped, " + dropped.get(name);
    }

    /**
     * Whether a variable comes from Kubernetes.
     *
     * @param prefix name of the service and an underscore, for example {@code TWINBOX_RELAY_}
     */
    static boolean isServiceLink(String variable, String prefix) {
        return variable.startsWith(prefix)
                && SERVICE_LINK.matcher(variable.substring(prefix.length())).matches();
    }

    private boolean isUnknownKey(String name) {
        return isOurs.test(name) && !keys.contains(name);
    }

    private boolean isUnknownVariable(String name) {
        return !variables.contains(name)
                && variablePrefixes.stream()
                        .anyMatch(prefix -> name.startsWith(prefix) && !isServiceLink(name, prefix));
    }

    /** {@code TWINBOX_RELAY_} for {@code twinbox.relay.lease}. */
    private static String variablePrefix(String key) {
        return Setting.environmentVariable(key.replaceFirst("([^.]*\\.[^.]*\\.).*", "$1"));
    }

    /** Some sources list a variable as a key, too. They cannot know where the key has a dash. */
    private static boolean isGuess(String name, Set<String> environment) {
        return GUESS.matcher(name).matches() && environment.contains(Setting.environmentVariable(name));
    }

    private static String suggestion(String unknown, Set<String> known) {
        return known.stream()
                .sorted()
                .min(Comparator.comparingInt(name -> distance(name, unknown)))
                .filter(name -> distance(name, unknown) <= LARGEST_TYPO)
                .map(name -> ": did you mean " + name + "?")
                .orElse(": remove it (docs/reference/configuration.md lists all keys)");
    }

    /** Edit distance (Levenshtein). */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        Arrays.setAll(row, i -> i);
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int substitution = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(substitution, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }
}
