package dev.twinbox.config;

import dev.twinbox.InvalidConfigurationException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigValue;

/**
 * Reads settings and collects all problems, each with key, value and remedy. Values of secrets are never shown.
 *
 * <p>An empty value counts as unset. No other value is silently replaced: only <code>${NAME}</code> is special.
 */
public final class SettingsReader {

    private final Config config;
    private final Set<String> environment;
    private final UnaryOperator<String> place;
    private final Expressions expressions;

    private final List<String> problems = new ArrayList<>();
    private final Set<String> known = new HashSet<>();
    private final Set<String> wrong = new HashSet<>();
    private final Map<String, String> texts = new HashMap<>();
    private final Map<String, Object> values = new HashMap<>();
    private final Map<String, String> hints = new HashMap<>();
    private final Map<String, String> dropped = new HashMap<>();

    /** @param environment names of the environment variables, which a {@code Config} need not list */
    public SettingsReader(Config config, Set<String> environment) {
        this(config, environment, key -> "");
    }

    /**
     * As {@link #SettingsReader(Config, Set)}, for a program that knows its files.
     *
     * @param place where a key is set, put after its value in messages: {@code " (relay.properties:7)"}, or nothing
     */
    public SettingsReader(Config config, Set<String> environment, UnaryOperator<String> place) {
        this.config = config;
        this.environment = Set.copyOf(environment);
        this.place = place;
        this.expressions = new Expressions(config);
    }

    /** Reads and checks settings; their keys are known from now on. */
    public void read(Collection<? extends Setting<?>> settings) {
        settings.forEach(this::parse);
    }

    /**
     * Reads keys that others check, for example those of Kafka's client.
     *
     * @param prefix of the keys, with its dot
     * @param names known below the prefix
     * @return by name, without the prefix; only what is set
     */
    public Map<String, String> readBelow(String prefix, Collection<String> names) {
        Map<String, String> found = new TreeMap<>();
        for (String name : names) {
            known.add(prefix + name);
            find(prefix + name).ifPresent(text -> found.put(name, text));
        }
        return found;
    }

    /** Adds keys that are read elsewhere and may be set here, too. */
    public void allow(Collection<String> keys) {
        known.addAll(keys);
    }

    /**
     * Adds what users should know about the keys below a prefix to the message about an unknown one.
     *
     * @param hint put in brackets, for example {@code the topics of the handlers are [orders]}
     */
    public void explain(String prefix, String hint) {
        hints.put(prefix, hint);
    }

    /**
     * Adds keys that earlier versions knew. They are unknown, but the message says what to do instead.
     *
     * @param advice by key, for example {@code remove it, the URL says it}
     */
    public void explainDropped(Map<String, String> advice) {
        dropped.putAll(advice);
    }

    /**
     * Refuses all keys below a prefix that are not known by now. A misspelt key would otherwise silently leave the
     * default in force. Environment variables are checked if they begin with the first two parts of a known key.
     *
     * @param others longer prefixes that belong to others
     */
    public void refuseUnknown(String prefix, String... others) {
        Predicate<String> isOurs =
                name -> name.startsWith(prefix) && Arrays.stream(others).noneMatch(name::startsWith);
        problems.addAll(new KnownKeys(known, isOurs, dropped).problems(names(), environment, place, this::hint));
    }

    /** Whether anything is set below a prefix, in the environment too. Variables of Kubernetes do not count. */
    public boolean isAnySet(String prefix) {
        String variables = Setting.environmentVariable(prefix);
        return names().stream()
                .anyMatch(name -> (name.startsWith(prefix) || name.startsWith(variables))
                        && !KnownKeys.isServiceLink(Setting.environmentVariable(name), variables));
    }

    /** The value of a setting; empty if it is unset or wrong. */
    public <T> Optional<T> find(Setting<T> setting) {
        @SuppressWarnings("unchecked") // put by parse(Setting<T>), made by the setting's own parser
        T value = (T) values.get(setting.key());
        return Optional.ofNullable(value);
    }

    /**
     * The value of a setting that is required or has a default.
     *
     * @throws NoSuchElementException if it is wrong or missing; not after {@link #throwIfWrong}
     */
    public <T> T get(Setting<T> setting) {
        return find(setting).orElseThrow(() -> new NoSuchElementException(setting.key()));
    }

    /**
     * Reports a problem if both values are legal and {@code lower} exceeds {@code upper}.
     *
     * @param why the end of the message
     */
    public <T extends Comparable<T>> void requireAtMost(Setting<T> lower, Setting<T> upper, String why) {
        find(lower)
                .filter(value ->
                        find(upper).filter(bound -> value.compareTo(bound) > 0).isPresent())
                .ifPresent(value -> report(
                        lower.key(), "must not exceed " + upper.key() + " (" + texts.get(upper.key()) + "): " + why));
    }

    /**
     * Makes one value of several settings, if each of them is legal.
     *
     * @param maker throws an {@link IllegalArgumentException} if they do not go together
     * @return empty if there is a problem
     */
    public <T> Optional<T> combine(Collection<? extends Setting<?>> settings, Supplier<T> maker) {
        List<String> keys = settings.stream().map(Setting::key).toList();
        if (keys.stream().anyMatch(wrong::contains)) {
            return Optional.empty();
        }
        try {
            return Optional.of(maker.get());
        } catch (IllegalArgumentException e) {
            problems.add(String.join(", ", keys) + ": " + e.getMessage());
            return Optional.empty();
        }
    }

    /**
     * Adds a problem that others have found with a key.
     *
     * @param problem what the value must be: goes on after key, value and place
     */
    public void report(String key, String problem) {
        String text = texts.get(key);
        wrong.add(key);
        problems.add(
                key + (text == null ? "" : " = \"" + Secret.shown(key, text) + '"') + place.apply(key) + ' ' + problem);
    }

    /** The problems found so far, one sentence each; empty if there are none. */
    public List<String> problems() {
        return List.copyOf(problems);
    }

    /**
     * Throws if there are problems.
     *
     * @param subject what was read, for example {@code "Configuration of the outbox"}
     * @throws InvalidConfigurationException with all problems, if there are any
     */
    public void throwIfWrong(String subject) {
        if (!problems.isEmpty()) {
            throw new InvalidConfigurationException(subject, problems);
        }
    }

    private <T> void parse(Setting<T> setting) {
        String key = setting.key();
        known.add(key);
        String text = find(key).orElse(setting.defaultValue());
        if (wrong.contains(key)) {
            return;
        }
        if (text == null) {
            refuseMissing(setting);
            return;
        }
        texts.put(key, text);
        try {
            values.put(key, setting.parser().apply(text));
        } catch (IllegalArgumentException e) {
            report(key, String.valueOf(e.getMessage()));
        }
    }

    private void refuseMissing(Setting<?> setting) {
        if (setting.presence() == Setting.Presence.REQUIRED) {
            report(
                    setting.key(),
                    "is missing: set it, or " + Setting.environmentVariable(setting.key())
                            + " in the environment, to " + setting.type().replace("`", "") + " ("
                            + setting.description() + ")");
        }
    }

    /** The text of a key, expressions resolved. */
    private Optional<String> find(String key) {
        if (wrong.contains(key)) {
            return Optional.empty();
        }
        ConfigValue value = config.getConfigValue(key);
        String text = expressions.resolve(value);
        if (text == null && value.getRawValue() != null && !value.getRawValue().isEmpty()) {
            report(
                    key,
                    "holds an expression that cannot be resolved: define what ${...} names, or write \\\\${ in a file "
                            + "for a literal ${");
        }
        if (text == null || text.isEmpty()) {
            return Optional.empty();
        }
        texts.put(key, text);
        return Optional.of(text);
    }

    private String hint(String key) {
        return hints.entrySet().stream()
                .filter(entry -> key.startsWith(entry.getKey()))
                .map(entry -> " (" + entry.getValue() + ")")
                .collect(Collectors.joining());
    }

    private Set<String> names() {
        Set<String> names = new TreeSet<>(environment);
        config.getPropertyNames().forEach(names::add);
        return names;
    }
}
