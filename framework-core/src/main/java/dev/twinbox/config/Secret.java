package dev.twinbox.config;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A value that no log, exception or status page may show: it prints as stars.
 *
 * @param value in clear
 */
public record Secret(String value) {

    /** What is shown in place of a secret. */
    public static final String MASK = "********";

    private static final Pattern IN_URL = Pattern.compile("(?i)(password=)[^&\\s]*|(//[^/@\\s]*:)[^/@\\s]*(?=@)");

    /** Passwords and key material, as Kafka names them, and the JAAS line, which holds a password. */
    private static final Pattern NAME = Pattern.compile(
            ".*(password|secret|jaas|credential|assertion).*|.*-token|.*keystore\\.(key|certificate\\.chain)");

    /** A wrong one may hold a password anywhere, so it is not shown. */
    private static final String REDIS_URL = "redis.url";

    /** Whoever writes {@code user:password} means a password. */
    private static final String REDIS_USER = "redis.user";

    /** Whoever writes a URL in place of a JNDI name may mean one, too. */
    private static final String DATA_SOURCE = "data-source";

    private static final Pattern URL = Pattern.compile("(?is)\\s*jdbc:.*|.*(://|[?@]).*");

    /** Whether the value of a key is secret, judged by the key's name. */
    public static boolean isSecret(String key) {
        return NAME.matcher(key.toLowerCase(Locale.ROOT)).matches();
    }

    /** The value of a key as a message may show it. */
    public static String shown(String key, String value) {
        boolean isMeant = key.endsWith(REDIS_URL)
                || (key.endsWith(REDIS_USER) && value.indexOf(':') >= 0)
                || (key.endsWith(DATA_SOURCE) && isUrl(value));
        return isMeant || isSecret(key) ? MASK : masked(value);
    }

    /** Whether somebody has written a URL of a database, with or without a password. */
    static boolean isUrl(String value) {
        return URL.matcher(value).matches();
    }

    /** A URL, or a text that may hold one, without the passwords in it. */
    public static String masked(String text) {
        return IN_URL.matcher(text)
                .replaceAll(match -> (match.group(1) == null ? match.group(2) : match.group(1)) + MASK);
    }

    @Override
    public String toString() {
        return MASK;
    }
}
