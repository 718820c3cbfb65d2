package dev.twinbox;

/**
 * Kafka's rule for the name of a topic: 1 to 249 of {@code a-z A-Z 0-9 . _ -}, and neither {@code .} nor {@code ..}. It
 * is the rule of {@code org.apache.kafka.common.internals.Topic}, which producers do not have on their class path. The
 * outbox tables have it as a constraint.
 */
public final class TopicName {

    /** The folder of a partition, {@code <topic>-<partition>}, must fit the 255 characters of a file name. */
    private static final int MAX_LENGTH = 249;

    private TopicName() {}

    /** Whether Kafka takes the name. */
    public static boolean isLegal(String name) {
        return !name.isEmpty()
                && name.length() <= MAX_LENGTH
                && !name.equals(".")
                && !name.equals("..")
                && indexOfIllegal(name) < 0;
    }

    /**
     * Checks a name.
     *
     * @return the name
     * @throws IllegalArgumentException if Kafka would not take it; the message says why
     */
    public static String check(String name) {
        if (isLegal(name)) {
            return name;
        }
        if (name.isEmpty() || name.length() > MAX_LENGTH) {
            throw new IllegalArgumentException("topic \"" + PrintableText.shortened(name) + "\" has " + name.length()
                    + " characters: Kafka allows 1 to " + MAX_LENGTH);
        }
        int index = indexOfIllegal(name);
        if (index < 0) {
            throw new IllegalArgumentException("topic \"" + name + "\" is not allowed by Kafka: choose another name");
        }
        throw new IllegalArgumentException("topic \"" + PrintableText.of(name) + "\" has an illegal character at index "
                + index + ": Kafka allows a-z, A-Z, 0-9, '.', '_' and '-'");
    }

    /** -1: none. */
    private static int indexOfIllegal(String name) {
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            boolean legal = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            if (!legal && "._-".indexOf(c) < 0) {
                return i;
            }
        }
        return -1;
    }
}
