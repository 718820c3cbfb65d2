package dev.twinbox.proof.servers.app;

import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** {@code GET state}: 200 when the application is deployed, and one line: JDK; JPA provider; missing APIs. */
@WebServlet("/state")
public class StateServlet extends HttpServlet {

    private static final long serialVersionUID = 1;

    @PersistenceContext
    private EntityManager entities;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Package provider = entities.getDelegate().getClass().getPackage();
        String name = provider.getName().startsWith("org.hibernate") ? "Hibernate" : "EclipseLink";
        String version = provider.getImplementationVersion();
        response.getWriter()
                .print("JDK " + Runtime.version().feature() + "; " + name + (version == null ? "" : " " + version) + "; "
                        + missing());
    }

    /** Optional APIs that the application cannot load. */
    private static String missing() {
        Map<String, String> apis = new LinkedHashMap<>();
        apis.put("MicroProfile Health", "org.eclipse.microprofile.health.HealthCheck");
        apis.put("MicroProfile Metrics", "org.eclipse.microprofile.metrics.MetricRegistry");
        apis.put("OpenTelemetry", "io.opentelemetry.api.OpenTelemetry");
        apis.values().removeIf(StateServlet::canBeLoaded);
        return apis.isEmpty() ? "none" : String.join(", ", apis.keySet());
    }

    private static boolean canBeLoaded(String type) {
        try {
            Class.forName(type, false, StateServlet.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
