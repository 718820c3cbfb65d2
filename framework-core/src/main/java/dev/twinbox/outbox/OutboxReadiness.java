package dev.twinbox.outbox;

import jakarta.inject.Inject;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.HealthCheckResponseBuilder;
import org.eclipse.microprofile.health.Readiness;

/**
 * UP when the application can publish, with the way on which the outbox writes. DOWN until its database has been
 * reached once. It is a bean only if the server has MicroProfile Health.
 */
@Readiness
class OutboxReadiness implements HealthCheck {

    @Inject
    private OutboxExtension outbox;

    @Inject
    private OpeningExtension openings;

    @Override
    public HealthCheckResponse call() {
        HealthCheckResponseBuilder response = HealthCheckResponse.named("twinbox-outbox");
        if (!outbox.isOutboxUsed()) {
            return response.up().build();
        }
        Opening opening = openings.opening();
        ChosenWay chosen = opening == null ? null : opening.chosen();
        if (chosen == null) {
            String trouble = opening == null ? "has not started yet" : opening.trouble();
            return response.withData("outbox", trouble).down().build();
        }
        return response.withData("writes", chosen.way().toString())
                .withData("because", chosen.reason())
                .up()
                .build();
    }
}
