package dev.twinbox.outbox;

/** Whether {@link OutboxReadiness} can be loaded. The API comes from the server, not from the application. */
final class HealthApi {

    private static final String NAME = "org.eclipse.microprofile.health.HealthCheck";

    private HealthApi() {}

    static boolean isPresent() {
        try {
            Class.forName(NAME, false, HealthApi.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
