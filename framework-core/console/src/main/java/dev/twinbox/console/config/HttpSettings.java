package dev.twinbox.console.config;

import dev.twinbox.config.Secret;
import dev.twinbox.config.Setting;
import dev.twinbox.config.SettingsReader;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The settings of {@link HttpConfig}.
 *
 * @param host address to listen on
 * @param port to listen on
 * @param names under which the host may be asked
 * @param readerToken of those who may see payloads
 * @param operatorToken of those who may change something
 * @param insecure whether other addresses than loopback are served
 * @param payloads whether payloads are shown at all
 */
public record HttpSettings(
        Setting<String> host,
        Setting<Integer> port,
        Setting<Set<String>> names,
        Setting<Secret> readerToken,
        Setting<Secret> operatorToken,
        Setting<Boolean> insecure,
        Setting<Boolean> payloads) {
    private static final String TOKEN = "secret, 16 characters or more";
    private static final int MOST_PORT = 65_535;

    /**
     * The settings below a prefix.
     *
     * @param prefix with its dot
     * @param served what is served there, for the documentation
     * @param warning what to know about the address, for the documentation
     * @param port its default
     * @param readerAlone what to know about the reader's token, for the documentation
     */
    public static HttpSettings of(String prefix, String served, String warning, int port, String readerAlone) {
        return new HttpSettings(
                Setting.text(prefix + "host", "text", "Address for " + served + ". " + warning)
                        .withDefault("127.0.0.1"),
                Setting.integer(prefix + "port", 0, MOST_PORT, "Port for " + served + ". 0: any free port.")
                        .withDefault(String.valueOf(port)),
                Setting.of(
                                prefix + "names",
                                "names, separated by commas",
                                "Names of the host under which the API may be asked, beside `localhost` and the address.",
                                HttpSettings::hostNames)
                        .optional(),
                Setting.of(
                                prefix + "reader-token",
                                TOKEN,
                                "Who sends it to the API may see payloads. It must differ from the operator's token. "
                                        + readerAlone,
                                HttpSettings::token)
                        .optional(),
                Setting.of(
                                prefix + "operator-token",
                                TOKEN,
                                "Who sends it to the API may see payloads and change something. Unset: nobody may change "
                                        + "anything.",
                                HttpSettings::token)
                        .optional(),
                Setting.oneOf(
                                prefix + "insecure",
                                List.of(false, true),
                                String::valueOf,
                                "`true`: the API is served on an address that is not loopback as well. Tokens and answers "
                                        + "cross the network unencrypted.")
                        .withDefault("false"),
                Setting.oneOf(
                                prefix + "payloads",
                                List.of(true, false),
                                String::valueOf,
                                "`false`: nobody sees payloads of parked events over HTTP, whatever the token.")
                        .withDefault("true"));
    }

    /** In the order of the documentation. */
    public List<Setting<?>> all() {
        return List.of(host, port, names, readerToken, operatorToken, insecure, payloads);
    }

    /** Adds a problem if both tokens are the same. The settings are read. */
    public void refuseEqualTokens(SettingsReader reader) {
        Optional<Secret> reading = reader.find(readerToken);
        if (reading.isPresent() && reading.equals(reader.find(operatorToken))) {
            reader.report(
                    readerToken.key(),
                    "must differ from " + operatorToken.key() + ": whoever may read could change everything");
        }
    }

    /** Their values. The settings are read, and not wrong. */
    public HttpConfig values(SettingsReader reader) {
        return new HttpConfig(
                reader.get(host),
                reader.get(port),
                reader.find(names).orElse(Set.of()),
                reader.find(readerToken).orElse(null),
                reader.find(operatorToken).orElse(null),
                reader.get(insecure),
                reader.get(payloads));
    }

    private static Set<String> hostNames(String value) {
        Set<String> names = new TreeSet<>();
        for (String name : value.split(",", -1)) {
            String host = name.strip().toLowerCase(Locale.ROOT);
            if (!host.matches("[a-z0-9.-]{1,253}")) {
                throw new IllegalArgumentException("must be names of hosts without ports, separated by commas");
            }
            names.add(host);
        }
        return names;
    }

    private static Secret token(String value) {
        if (!value.matches("[\\x21-\\x7e]{16,200}")) {
            throw new IllegalArgumentException("must be 16 to 200 printable characters of ASCII without blanks");
        }
        return new Secret(value);
    }
}
