package dev.twinbox.inbox;

import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.spi.BeforeBeanDiscovery;
import jakarta.enterprise.inject.spi.Extension;

/**
 * Adds the checks of readiness and liveness if the server has MicroProfile Health. Public because the container instantiates it; not for
 * applications.
 */
public class ReadinessExtension implements Extension {

    private static final String HEALTH_API = "org.eclipse.microprofile.health.HealthCheck";

    void addHealthChecks(@Observes BeforeBeanDiscovery discovery) {
        if (ServerApis.has(HEALTH_API)) { // without it, InboxStatus shows the same
            discovery.addAnnotatedType(InboxReadiness.class, InboxReadiness.class.getName());
            discovery.addAnnotatedType(InboxLiveness.class, InboxLiveness.class.getName());
        }
    }
}
