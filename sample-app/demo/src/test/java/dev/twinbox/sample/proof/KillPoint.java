package dev.twinbox.sample.proof;

/**
 * A place in the code of a process, as Byteman names it.
 *
 * @param type class, with its package
 * @param method name, without parameters: all of that name
 * @param location of the method, e.g. {@code AT ENTRY}
 * @param condition Byteman expression about {@code $0}, {@code $1}, {@code $!}: which of the calls
 */
record KillPoint(String type, String method, String location, String condition) {

    private static final String RELAY = "dev.twinbox.relay.";

    /** Of a class of the relay. */
    static KillPoint enterRelay(String type, String method) {
        return inRelay(type, method, "AT ENTRY");
    }

    /** Of a class of the relay. */
    static KillPoint leaveRelay(String type, String method) {
        return inRelay(type, method, "AT EXIT");
    }

    /** Of a class of the relay. */
    static KillPoint inRelay(String type, String method, String location) {
        return new KillPoint(RELAY + type, method, location, "TRUE");
    }

    KillPoint when(String expression) {
        return new KillPoint(type, method, location, expression);
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
                DO halt("%s")
                ENDRULE
                """.formatted(name, type, method, Kill.class.getName(), location, folder, condition, folder);
    }

    @Override
    public String toString() {
        return type + "." + method + ", " + location + ", if " + condition;
    }
}
