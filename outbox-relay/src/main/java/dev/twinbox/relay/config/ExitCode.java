package dev.twinbox.relay.config;

/** What the process tells the shell or service manager that started it. Part of the documented interface. */
public enum ExitCode {
    OK(0, "finished, or stopped by SIGTERM"),
    INTERNAL(1, "an error nobody foresaw; the log holds its stack trace"),
    USAGE(2, "wrong arguments or configuration, or the HTTP port is taken; restarting does not help"),
    SCHEMA(3, "a table, column, privilege or schema version is not what the relay needs; run migrate or grant"),
    DATABASE(
            4,
            "the database refuses us for good: password, unknown database, hot standby, another cluster, a pooler in "
                    + "transaction mode; or a command that does not wait for ever had no answer from it"),
    DELIVERY(
            5,
            "exactly-once publication cannot begin or go on: the mode is not the recorded one, or what Kafka keeps for it "
                    + "is missing or unknown"),
    UNFINISHED(6, "asked to stop, the relay did not end in time and was cut off; nothing is lost");

    private final int number;
    private final String meaning;

    ExitCode(int number, String meaning) {
        this.number = number;
        this.meaning = meaning;
    }

    public int number() {
        return number;
    }

    public String meaning() {
        return meaning;
    }
}
