package dev.twinbox.json;

import dev.twinbox.json.JsonShape.MismatchException;
import jakarta.json.stream.JsonParser;
import jakarta.json.stream.JsonParser.Event;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The simple types of which JSON-B would take a value that they cannot hold. */
final class JsonScalar {

    private static final int LONGEST_SHOWN = 40;

    private static final Map<Class<?>, JsonShape> BY_TYPE = Map.ofEntries(
            Map.entry(byte.class, whole(Byte.MIN_VALUE, Byte.MAX_VALUE)),
            Map.entry(Byte.class, whole(Byte.MIN_VALUE, Byte.MAX_VALUE)),
            Map.entry(short.class, whole(Short.MIN_VALUE, Short.MAX_VALUE)),
            Map.entry(Short.class, whole(Short.MIN_VALUE, Short.MAX_VALUE)),
            Map.entry(int.class, whole(Integer.MIN_VALUE, Integer.MAX_VALUE)),
            Map.entry(Integer.class, whole(Integer.MIN_VALUE, Integer.MAX_VALUE)),
            Map.entry(OptionalInt.class, whole(Integer.MIN_VALUE, Integer.MAX_VALUE)),
            Map.entry(long.class, whole(Long.MIN_VALUE, Long.MAX_VALUE)),
            Map.entry(Long.class, whole(Long.MIN_VALUE, Long.MAX_VALUE)),
            Map.entry(OptionalLong.class, whole(Long.MIN_VALUE, Long.MAX_VALUE)),
            Map.entry(BigInteger.class, onNumber(JsonScalar::checkWhole)),
            Map.entry(float.class, onNumber(number -> checkFinite(number, number.floatValue()))),
            Map.entry(Float.class, onNumber(number -> checkFinite(number, number.floatValue()))),
            Map.entry(double.class, onNumber(number -> checkFinite(number, number.doubleValue()))),
            Map.entry(Double.class, onNumber(number -> checkFinite(number, number.doubleValue()))),
            Map.entry(OptionalDouble.class, onNumber(number -> checkFinite(number, number.doubleValue()))),
            Map.entry(boolean.class, (JsonShape) JsonScalar::checkFlag),
            Map.entry(Boolean.class, (JsonShape) JsonScalar::checkFlag),
            Map.entry(char.class, (JsonShape) JsonScalar::checkLetter),
            Map.entry(Character.class, (JsonShape) JsonScalar::checkLetter));

    private JsonScalar() {}

    /** Null: the type has no such values. */
    static @Nullable JsonShape of(Class<?> type) {
        return BY_TYPE.get(type);
    }

    private interface NumberCheck {
        void check(BigDecimal number);
    }

    private static JsonShape onNumber(NumberCheck check) {
        return (json, event) -> {
            if (event == Event.VALUE_NUMBER) {
                check.check(json.getBigDecimal());
            } else {
                JsonShape.ANY.check(json, event);
            }
        };
    }

    private static JsonShape whole(long least, long most) {
        int digits = Long.toString(most).length();
        return (json, event) -> {
            if (event != Event.VALUE_NUMBER) {
                JsonShape.ANY.check(json, event);
            } else if (!isShortWholeNumber(json.getString(), digits)) {
                checkWhole(json.getBigDecimal(), least, most);
            }
        };
    }

    /** Most numbers are: they need no arithmetic. */
    private static boolean isShortWholeNumber(String text, int digits) {
        if (text.length() >= digits) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c != '-' && (c < '0' || c > '9')) {
                return false;
            }
        }
        return true;
    }

    private static void checkWhole(BigDecimal number, long least, long most) {
        try {
            long value = number.longValueExact();
            if (value >= least && value <= most) {
                return;
            }
        } catch (ArithmeticException e) {
            // It is reported like one that is out of range.
        }
        throw new MismatchException("is " + shown(number) + ", and its type holds whole numbers from " + least + " to "
                + most);
    }

    /** The scale decides, because a number like 1e999999999 must not be written out. */
    private static void checkWhole(BigDecimal number) {
        if (number.stripTrailingZeros().scale() > 0) {
            throw new MismatchException("is " + shown(number) + ", and its type holds whole numbers");
        }
    }

    private static void checkFinite(BigDecimal number, double value) {
        if (Double.isInfinite(value)) {
            throw new MismatchException("is " + shown(number) + ", which is too large for its type");
        }
    }

    private static String shown(BigDecimal number) {
        String text = number.toString();
        return text.length() <= LONGEST_SHOWN ? text : text.substring(0, LONGEST_SHOWN) + "...";
    }

    private static void checkFlag(JsonParser json, Event event) {
        if (event == Event.VALUE_STRING) {
            String text = json.getString();
            if (!text.equalsIgnoreCase("true") && !text.equalsIgnoreCase("false")) {
                throw new MismatchException("is a text, and its type holds true or false");
            }
        } else {
            JsonShape.ANY.check(json, event);
        }
    }

    private static void checkLetter(JsonParser json, Event event) {
        if (event == Event.VALUE_STRING && json.getString().length() != 1) {
            throw new MismatchException("is a text of " + json.getString().length()
                    + " characters, and its type holds one");
        } else {
            JsonShape.ANY.check(json, event);
        }
    }
}
