package dev.twinbox.sample.proof;

/**
 * A place in the code of a process, as Byteman names it.
 *
 * @param type class, with its package
 * @param method name, without parameters: all of that name
 * @param location of the method, e.g. {@code AT ENTRY}
 * @param condition Byteman expression about {@code $0}, {@code $1}, {@code $!}: which of the calls
 * @param who Byteman expression for a word: where several threads come to the step, which of them
 */
record KillPoint(String type, String method, String location, String condition, String who) {

    private static final String RELAY = "dev.twinbox.relay.";
    private static final String INBOX = "dev.twinbox.inbox.";

    static KillPoint enter(String type, String method) {
        return new KillPoint(type, method, "AT ENTRY", "TRUE", "\"it\"");
    }

    static KillPoint leave(String type, String method) {
        return new KillPoint(type, method, "AT EXIT", "TRUE", "\"it\"");
    }

    /** As {@link #enter(String, String)}, of a class of the relay. */
    static KillPoint enterRelay(String type, String method) {
        return enter(RELAY + type, method);
    }

    /** As {@link #leave(String, String)}, of a class of the relay. */
    static KillPoint leaveRelay(String type, String method) {
        return leave(RELAY + type, method);
    }

    /** As {@link #leave(String, String)}, of a class of the receiver. */
    static KillPoint leaveInbox(String type, String method) {
        return leave(INBOX + type, method);
    }

    KillPoint when(String expression) {
        return new KillPoint(type, method, location, expression, who);
    }

    KillPoint by(String expression) {
        return new KillPoint(type, method, location, condition, expression);
    }

    /** @param folder what the rule and the test share */
    String rule(String name, String folder) {
        return """
                RULE %s
                CLASS %s
                METHOD %s
                HELPER %s
                %s
                IF isArmed("%s") AND (%s)
                DO halt("%s", %s)
                ENDRULE
                """.formatted(name, type, method, Kill.class.getName(), location, folder, condition, folder, who);
    }

    @Override
    public String toString() {
        return type + "." + method + ", " + location + ", if " + condition;
    }
}
