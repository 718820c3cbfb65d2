package dev.twinbox.outbox;

import dev.twinbox.config.ServerApis;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.inject.spi.BeforeBeanDiscovery;
import jakarta.enterprise.inject.spi.Extension;

/**
 * Adds the check of readiness if the server has MicroProfile Health. Public because the service loader demands it; not
 * for applications.
 */
public class ReadinessExtension implements Extension {

    void addReadiness(@Observes BeforeBeanDiscovery discovery) {
        if (ServerApis.haveHealth()) {
            discovery.addAnnotatedType(OutboxReadiness.class, OutboxReadiness.class.getName());
        }
    }
}
