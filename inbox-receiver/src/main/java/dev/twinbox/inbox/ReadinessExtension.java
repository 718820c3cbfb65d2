package dev.twinbox.inbox;

import dev.twinbox.config.ServerApis;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.spi.BeforeBeanDiscovery;
import jakarta.enterprise.inject.spi.Extension;

/**
 * Adds the checks of readiness and liveness if the server has MicroProfile Health. Public because the container instantiates it; not for
 * applications.
 */
public class ReadinessExtension implements Extension {

    void addHealthChecks(@Observes BeforeBeanDiscovery discovery) {
        if (ServerApis.haveHealth()) { // without it, InboxStatus shows the same
            discovery.addAnnotatedType(InboxReadiness.class, InboxReadiness.class.getName());
            discovery.addAnnotatedType(InboxLiveness.class, InboxLiveness.class.getName());
        }
    }
}
