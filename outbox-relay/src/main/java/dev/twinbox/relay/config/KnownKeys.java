package dev.twinbox.relay.config;

import java.util.Arrays;
import java.util.Comparator;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Tells a mistyped key from one of ours, of an application's or of somebody else's. */
final class KnownKeys {

    private static final String OURS = "twinbox.";
    private static final String RECEIVER = "twinbox.inbox.";
    private static final int LARGEST_TYPO = 4;

    /** A Kubernetes service named twinbox-relay puts these into the environment of every pod beside it. */
    private static final Pattern SERVICE_LINK = Pattern.compile("TWINBOX_(RELAY|OUTBOX)_"
            + "(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT|PORT_\\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)");

    private KnownKeys() {}

    /** A key of Twinbox that neither the relay nor an application reads. */
    static boolean isUnknown(String key) {
        return key.startsWith(OURS) && !key.startsWith(RECEIVER) && all().noneMatch(key::equals);
    }

    /** As {@link #isUnknown}, for the name of an environment variable. */
    static boolean isUnknownVariable(String name) {
        boolean ours = name.startsWith("TWINBOX_RELAY_") || name.startsWith("TWINBOX_OUTBOX_");
        return ours
                && !SERVICE_LINK.matcher(name).matches()
                && all().noneMatch(key -> Setting.environmentVariable(key).equals(name));
    }

    /** The end of a message about an unknown key. */
    static String suggestion(String unknown) {
        return all().min(Comparator.comparingInt(key -> distance(key, unknown)))
                .filter(key -> distance(key, unknown) <= LARGEST_TYPO)
                .map(key -> ": did you mean " + key + "?")
                .orElse(": remove it (docs/reference/configuration.md lists all keys)");
    }

    private static Stream<String> all() {
        return Stream.of(
                        RelaySettings.ALL.stream().map(Setting::key),
                        RelaySettings.OF_APPLICATIONS.stream(),
                        KafkaSettings.names().stream().map(KafkaSettings.PREFIX::concat))
                .flatMap(keys -> keys);
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
