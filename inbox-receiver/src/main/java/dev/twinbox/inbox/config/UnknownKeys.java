package dev.twinbox.inbox.config;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Keys and environment variables that look like the receiver's and are not. */
final class UnknownKeys {

    /** What Kubernetes puts into the environment for a service called twinbox-inbox. */
    private static final Pattern OF_KUBERNETES = Pattern.compile("TWINBOX_INBOX_(SERVICE_.+|PORT|PORT_.+)");

    private static final List<Setting> BY_TOPIC = List.of(Setting.EVENT_ID, Setting.EVENT_TYPE, Setting.VALUE_FORMAT);

    private final List<String> names;
    private final Set<String> topics;

    /**
     * @param names of all properties, as the sources list them
     * @param topics those that the application reads
     */
    UnknownKeys(List<String> names, Set<String> topics) {
        this.names = List.copyOf(names);
        this.topics = topics;
    }

    /**
     * One sentence for each: a misspelt key would otherwise be a setting that is silently ignored.
     *
     * <p><b>Remedy.</b> Correct or remove the key.
     */
    List<String> problems() {
        Set<String> known = Stream.concat(
                        Stream.of(Setting.values()).map(Setting::key),
                        topics.stream().flatMap(topic -> BY_TOPIC.stream().map(setting -> setting.keyOf(topic))))
                .collect(Collectors.toSet());
        Set<String> variables = known.stream().map(Setting::environmentName).collect(Collectors.toSet());
        variables.retainAll(names);
        Set<String> unknown = new TreeSet<>();
        for (String name : names) {
            if (name.startsWith(Setting.PREFIX)
                    && !known.contains(name)
                    // A source that lists a variable by both names takes each _ for a dot.
                    && !variables.contains(Setting.environmentName(name))
                    && !name.startsWith(Setting.KAFKA_PREFIX)
                    && !isOfKubernetes(Setting.environmentName(name))) {
                unknown.add(name);
            }
        }
        unknown.addAll(unknownVariables(known, unknown));
        return unknown.stream()
                .map(name -> "unknown key " + name + "; " + knownOnes(name))
                .toList();
    }

    private String knownOnes(String unknown) {
        if (unknown.startsWith(Setting.TOPIC_PREFIX)) {
            List<String> ofTopic =
                    BY_TOPIC.stream().map(setting -> setting.keyOf("<topic>")).toList();
            return "the topics of this application's handlers are " + topics + ", and what can be set of one is "
                    + ofTopic;
        }
        return "the receiver's keys are "
                + Stream.of(Setting.values()).map(Setting::key).sorted().collect(Collectors.joining(", "));
    }

    /** Some sources list a variable by both names; it is one mistake. */
    private Set<String> unknownVariables(Set<String> known, Set<String> alreadyFound) {
        Set<String> expected = Stream.concat(known.stream(), alreadyFound.stream())
                .map(Setting::environmentName)
                .collect(Collectors.toSet());
        return names.stream()
                .filter(name -> name.startsWith(Setting.environmentName(Setting.PREFIX)))
                .filter(name -> !expected.contains(name)
                        && !name.startsWith(Setting.environmentName(Setting.KAFKA_PREFIX))
                        && !isOfKubernetes(name))
                .collect(Collectors.toSet());
    }

    private static boolean isOfKubernetes(String variable) {
        return OF_KUBERNETES.matcher(variable).matches();
    }
}
