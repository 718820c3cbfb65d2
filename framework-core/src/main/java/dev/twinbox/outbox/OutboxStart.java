package dev.twinbox.outbox;

import dev.twinbox.config.ServerApis;
import dev.twinbox.jmx.ManagementBean;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import jakarta.ejb.Singleton;
import jakarta.ejb.Startup;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.inject.Inject;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Checks the database when the application starts. What it throws fails the deployment. It is a session bean, since the
 * application's data sources may be missing when CDI itself has started.
 *
 * <p>Public because session beans have to be; not for applications.
 */
@Singleton
@Startup
@TransactionAttribute(TransactionAttributeType.NOT_SUPPORTED)
public class OutboxStart {

    @Inject
    OutboxExtension extension;

    @Inject
    TransactionOutbox outbox;

    @Inject
    OpeningExtension openings;

    private @Nullable ManagementBean shown;

    @PostConstruct
    void start() {
        if (extension.isOutboxUsed()) {
            ServerApis.logAbsent();
            outbox.start();
            Opening opening = openings.opening();
            if (opening != null) {
                shown = ManagementBean.register("Outbox", new TreeMap<>(), new JmxOutbox(opening));
            }
        }
    }

    @PreDestroy
    void stop() {
        if (shown != null) {
            shown.close();
        }
    }
}
