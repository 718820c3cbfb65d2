package dev.twinbox.config;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** Reports which optional APIs the server has. They come from the server, not from the application. */
public final class ServerApis {

    private static final String HEALTH = "org.eclipse.microprofile.health.HealthCheck";
    private static final String METRICS = "org.eclipse.microprofile.metrics.MetricRegistry";
    private static final String OPEN_TELEMETRY = "io.opentelemetry.api.OpenTelemetry";

    private static final Logger LOG = System.getLogger(ServerApis.class.getName());
    private static final AtomicBoolean LOGGED = new AtomicBoolean();

    private ServerApis() {}

    /** Logs at INFO what the server does not have, and what that means. Once for each application. */
    public static void logAbsent() {
        List<String> absent = new ArrayList<>();
        if (!haveHealth()) {
            absent.add(
                    "MicroProfile Health (there are no checks of liveness and readiness; JMX says whether Twinbox is ready)");
        }
        if (!haveMetrics()) {
            absent.add("MicroProfile Metrics (JMX and InboxStatus have the same figures)");
        }
        if (!haveOpenTelemetry()) {
            absent.add("OpenTelemetry (there are no spans)");
        }
        if (!absent.isEmpty() && LOGGED.compareAndSet(false, true)) {
            LOG.log(Level.INFO, () -> "This server does not have " + String.join(", ", absent));
        }
    }

    /** MicroProfile Health. */
    public static boolean haveHealth() {
        return has(HEALTH);
    }

    /** MicroProfile Metrics. */
    public static boolean haveMetrics() {
        return has(METRICS);
    }

    public static boolean haveOpenTelemetry() {
        return has(OPEN_TELEMETRY);
    }

    private static boolean has(String type) {
        try {
            Class.forName(type, false, ServerApis.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
