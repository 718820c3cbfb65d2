package dev.twinbox;

/**
 * Text in messages: control characters and lone surrogates as U+XXXX, so that they show and can be written as UTF-8.
 */
final class PrintableText {

    private static final int SHORT = 60;

    private PrintableText() {}

    static String of(String value) {
        StringBuilder text = new StringBuilder(value.length());
        value.codePoints().forEach(c -> text.append(of(c)));
        return text.toString();
    }

    static String of(int codePoint) {
        boolean plain = !Character.isISOControl(codePoint) && Character.getType(codePoint) != Character.SURROGATE;
        return plain ? Character.toString(codePoint) : String.format("U+%04X", codePoint);
    }

    static String shortened(String value) {
        String text = of(value);
        return text.length() <= SHORT ? text : text.substring(0, SHORT) + "…";
    }
}
