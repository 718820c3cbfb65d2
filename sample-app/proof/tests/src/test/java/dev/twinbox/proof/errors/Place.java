package dev.twinbox.proof.errors;

/** Where a reader meets a message; the sections of the page in their order. */
enum Place {
    CALL("At the call", "An application publishes, or asks for parked or handled events."),
    DEPLOYMENT("At deployment", "The container refuses the application; its log holds all problems at once."),
    CONFIGURATION(
            "Configuration",
            "A key of the producer, the relay or the receiver. The message begins with the key and its value."),
    TABLES(
            "Tables and database",
            "The same check runs at deployment, at the relay's start, in both command lines and in the receiver."),
    RELAY_START(
            "Relay: it ends with an exit code",
            "The last line of the log is the message. [Command line](command-line.md) lists the exit codes."),
    RELAY_RUNNING(
            "Relay: running, and parked events",
            "The log has an ERROR line, readiness is DOWN, or `twinbox-relay parked list` shows the message."),
    RECEIVER(
            "Receiver",
            "The log has an ERROR line, readiness is DOWN, or `twinbox-inbox-cli.jar parked list` shows it."),
    COMMAND_LINES("Command lines", "A command of the relay or of the receiver refuses to do what it was asked.");

    private final String title;
    private final String introduction;

    Place(String title, String introduction) {
        this.title = title;
        this.introduction = introduction;
    }

    String title() {
        return title;
    }

    String introduction() {
        return introduction;
    }

    static Place of(Message message) {
        String packageName = message.unit().packageName();
        String className = message.unit().className();
        boolean ofCore = message.unit().module().equals("framework-core");
        if (packageName.matches(".*\\.(?:cli|operator|search|actions|inbox\\.console)")
                || className.matches("\\w+Command|\\w+Main|Selection")) {
            return COMMAND_LINES;
        } else if (packageName.endsWith(".config") || className.endsWith("Settings") || isIdentifier(message)) {
            return CONFIGURATION;
        } else if (packageName.endsWith(".schema") || message.kind().equals("SchemaException")) {
            return TABLES;
        } else if (message.kind().equals(Message.PROBLEM) || message.kind().equals("InvalidConfigurationException")) {
            return DEPLOYMENT;
        } else if (ofCore) {
            return message.kind().equals("IllegalArgumentException") && packageName.endsWith(".outbox")
                    ? DEPLOYMENT
                    : CALL;
        } else if (packageName.contains(".relay") || packageName.equals("dev.twinbox.console")) {
            return message.kind().equals("RelayException") ? RELAY_START : RELAY_RUNNING;
        }
        return packageName.endsWith(".inbox") && message.kind().matches("\\w+Exception") ? CALL : RECEIVER;
    }

    private static boolean isIdentifier(Message message) {
        return message.kind().equals("IllegalArgumentException")
                && message.unit().packageName().matches(".*\\.(?:jdbc|schema)");
    }
}
