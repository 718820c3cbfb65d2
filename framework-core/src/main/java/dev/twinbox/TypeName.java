package dev.twinbox;

import java.nio.charset.StandardCharsets;

/**
 * The limit of an event type's length. Publishing, relay and inbox have the same one, so that what is published can be
 * handled.
 */
public final class TypeName {

    /** Most bytes of a type in UTF-8. */
    public static final int MAX_BYTES = 512;

    private TypeName() {}

    /** Whether the type is not too long. */
    public static boolean fits(String type) {
        return type.length() <= MAX_BYTES && bytes(type) <= MAX_BYTES;
    }

    /**
     * Says that a type is too long and what to do.
     *
     * @param type one that does not {@link #fits fit}
     */
    public static String tooLong(String type) {
        return "type \"" + PrintableText.shortened(type) + "\" has " + bytes(type) + " bytes, allowed are " + MAX_BYTES
                + ": choose a shorter name";
    }

    private static int bytes(String type) {
        return type.getBytes(StandardCharsets.UTF_8).length;
    }
}
