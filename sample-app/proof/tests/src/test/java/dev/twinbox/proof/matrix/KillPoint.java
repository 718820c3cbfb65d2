package dev.twinbox.proof.matrix;

/**
 * A place in the code of a process, in the terms of Byteman.
 *
 * @param type class with its package
 * @param method name without parameters; all methods of that name
 * @param location in the method, e.g. {@code AT ENTRY}
 * @param condition a Byteman expression about {@code $0}, {@code $1}, {@code $!} that selects calls
 * @param subject a Byteman expression for a text: what the call is about, if the test waits for some of many calls
 */
record KillPoint(String type, String method, String location, String condition, String subject) {

    private static final String RELAY = "dev.twinbox.relay.";
    private static final String INBOX = "dev.twinbox.inbox.engine.";
    private static final String EACH = "TRUE";
    private static final String ANYTHING = "\"anything\"";

    static KillPoint enter(String type, String method) {
        return new KillPoint(type, method, "AT ENTRY", EACH, ANYTHING);
    }

    static KillPoint leave(String type, String method) {
        return new KillPoint(type, method, "AT EXIT", EACH, ANYTHING);
    }

    /** Of a class of the relay, named by its package below {@code dev.twinbox.relay} and its own name. */
    static KillPoint enterRelay(String type, String method) {
        return enter(RELAY + type, method);
    }

    /** Of a class of the relay, named by its package below {@code dev.twinbox.relay} and its own name. */
    static KillPoint leaveRelay(String type, String method) {
        return leave(RELAY + type, method);
    }

    /** Of a class of the relay, named by its package below {@code dev.twinbox.relay} and its own name. */
    static KillPoint inRelay(String type, String method, String location) {
        return new KillPoint(RELAY + type, method, location, EACH, ANYTHING);
    }

    /** Of a class of the receiver. */
    static KillPoint enterInbox(String type, String method) {
        return enter(INBOX + type, method);
    }

    /** Of a class of the receiver. */
    static KillPoint leaveInbox(String type, String method) {
        return leave(INBOX + type, method);
    }

    KillPoint when(String expression) {
        return new KillPoint(type, method, location, expression, subject);
    }

    KillPoint about(String expression) {
        return new KillPoint(type, method, location, condition, expression);
    }

    /** @param folder shared by rule and test */
    String rule(String name, String folder) {
        return """
                RULE %1$s
                CLASS %2$s
                METHOD %3$s
                HELPER %4$s
                %5$s
                IF isArmed("%6$s", %7$s) AND (%8$s)
                DO halt("%6$s", %7$s)
                ENDRULE
                """.formatted(name, type, method, Kill.class.getName(), location, folder, subject, condition);
    }

    @Override
    public String toString() {
        return type + "." + method + ", " + location + ", if " + condition;
    }
}
