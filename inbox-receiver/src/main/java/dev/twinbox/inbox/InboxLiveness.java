package dev.twinbox.inbox;

import jakarta.inject.Inject;
import java.util.Map;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.HealthCheckResponseBuilder;
import org.eclipse.microprofile.health.Liveness;

/**
 * DOWN if the server should be started again. It is a bean only if the server has MicroProfile Health.
 *
 * @see ReadinessExtension
 */
@Liveness
class InboxLiveness implements HealthCheck {

    /** See {@link InboxReadiness}: the status bean itself cannot be injected. */
    @Inject
    private InboxExtension extension;

    @Override
    public HealthCheckResponse call() {
        HealthCheckResponseBuilder response = HealthCheckResponse.named("twinbox-inbox");
        InboxStatus status = extension.status();
        Map<String, String> reasons = status == null ? Map.of() : status.reasonsToRestart();
        reasons.forEach(response::withData);
        return response.status(reasons.isEmpty()).build();
    }
}
