package dev.twinbox.tracing;

/** Whether {@link OpenTelemetryTracing} can be loaded. The API comes from the server, not from the application. */
final class OpenTelemetryApi {

    private static final String NAME = "io.opentelemetry.api.OpenTelemetry";

    private OpenTelemetryApi() {}

    static boolean isPresent() {
        try {
            Class.forName(NAME, false, OpenTelemetryApi.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
