package dev.twinbox.inbox;

import jakarta.inject.Inject;
import java.util.Map;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.HealthCheckResponseBuilder;
import org.eclipse.microprofile.health.Readiness;

/**
 * UP while the receiver works; DOWN names what it waits for. It is a bean only if the server has MicroProfile Health.
 *
 * @see ReadinessExtension
 */
@Readiness
class InboxReadiness implements HealthCheck {

    /**
     * The status bean itself cannot be injected. On Payara a bean that an extension adds does not see the beans of its
     * library.
     */
    @Inject
    private InboxExtension extension;

    @Override
    public HealthCheckResponse call() {
        HealthCheckResponseBuilder response = HealthCheckResponse.named("twinbox-inbox");
        InboxStatus status = extension.status();
        Map<String, String> troubles = status == null ? Map.of("receiver", "has not started yet") : status.troubles();
        troubles.forEach(response::withData);
        if (status != null) {
            // These are not troubles: all other events are handled, and another instance would do no better.
            status.notes().forEach(response::withData);
            response.withData("parked events waiting", status.waiting()).withData("parked events dead", status.dead());
        }
        return response.status(troubles.isEmpty()).build();
    }
}
