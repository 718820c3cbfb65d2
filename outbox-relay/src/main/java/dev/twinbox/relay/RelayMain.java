package dev.twinbox.relay;

/** The relay's command line: {@code java -jar outbox-relay.jar run|migrate|status}. */
public final class RelayMain {

    private RelayMain() {}

    public static void main(String[] args) {
        System.exit(2);
    }
}
