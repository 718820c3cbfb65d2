package dev.twinbox.json;

import jakarta.json.stream.JsonParser;
import jakarta.json.stream.JsonParser.Event;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a JSON value must be like to become a value of a Java type unchanged. What is of another kind altogether, such as
 * text instead of an object, JSON-B refuses itself.
 */
interface JsonShape {

    JsonShape ANY = JsonShape::skip;

    /**
     * Reads one value.
     *
     * @param event where the value begins; afterwards the parser is at its end
     */
    void check(JsonParser json, Event event);

    /** Not by {@code skipArray} and {@code skipObject}: Parsson's never return if the text is cut off within them. */
    private static void skip(JsonParser json, Event event) {
        for (int depth = levels(event); depth > 0; ) {
            depth += levels(json.next());
        }
    }

    private static int levels(Event event) {
        return switch (event) {
            case START_OBJECT, START_ARRAY -> 1;
            case END_OBJECT, END_ARRAY -> -1;
            default -> 0;
        };
    }

    /** A value that does not fit. Each level that it passes adds its name to the path. */
    final class MismatchException extends RuntimeException {

        private static final long serialVersionUID = 1;

        private String path = "";

        MismatchException(String message) {
            super(message, null, false, false);
        }

        MismatchException in(String step) {
            path = step + (path.isEmpty() || path.startsWith("[") ? "" : ".") + path;
            return this;
        }

        String path() {
            return path.isEmpty() ? "of the whole value" : path;
        }
    }

    /** An object of a class. */
    final class OfObject implements JsonShape {

        private record Member(JsonShape value, int required) {}

        private static final int NOT_REQUIRED = -1;

        private final Map<String, Member> members = new HashMap<>();
        private final List<String> required = new ArrayList<>();

        /** Its member must be there. */
        void require(String name, JsonShape value) {
            if (members.putIfAbsent(name, new Member(value, required.size())) == null) {
                required.add(name);
            }
        }

        /** Its member may be missing. */
        void allow(String name, JsonShape value) {
            members.putIfAbsent(name, new Member(value, NOT_REQUIRED));
        }

        @Override
        public void check(JsonParser json, Event event) {
            if (event != Event.START_OBJECT) {
                ANY.check(json, event);
                return;
            }
            BitSet seen = new BitSet(required.size());
            for (Event next = json.next(); next != Event.END_OBJECT; next = json.next()) {
                String name = json.getString();
                Member member = members.get(name);
                Event value = json.next();
                if (member == null) {
                    ANY.check(json, value);
                } else {
                    checkMember(name, member, json, value, seen);
                }
            }
            int missing = seen.nextClearBit(0);
            if (missing < required.size()) {
                throw new MismatchException("is missing, and its type is a primitive, which has no null")
                        .in(required.get(missing));
            }
        }

        private static void checkMember(String name, Member member, JsonParser json, Event value, BitSet seen) {
            if (member.required() != NOT_REQUIRED) {
                seen.set(member.required());
                if (value == Event.VALUE_NULL) {
                    throw new MismatchException("is null, and its type is a primitive, which has no null").in(name);
                }
            }
            try {
                member.value().check(json, value);
            } catch (MismatchException e) {
                throw e.in(name);
            }
        }
    }

    /** An array, whose elements all have one shape. */
    record OfArray(JsonShape element) implements JsonShape {
        @Override
        public void check(JsonParser json, Event event) {
            if (event != Event.START_ARRAY || element == ANY) {
                ANY.check(json, event);
                return;
            }
            int index = 0;
            for (Event next = json.next(); next != Event.END_ARRAY; next = json.next()) {
                try {
                    element.check(json, next);
                } catch (MismatchException e) {
                    throw e.in("[" + index + "]");
                }
                index++;
            }
        }
    }

    /** An object with any members, whose values all have one shape. */
    record OfMap(JsonShape value) implements JsonShape {
        @Override
        public void check(JsonParser json, Event event) {
            if (event != Event.START_OBJECT || value == ANY) {
                ANY.check(json, event);
                return;
            }
            for (Event next = json.next(); next != Event.END_OBJECT; next = json.next()) {
                String name = json.getString();
                Event member = json.next();
                try {
                    value.check(json, member);
                } catch (MismatchException e) {
                    throw e.in(name);
                }
            }
        }
    }
}
