package dev.twinbox.outbox;

import jakarta.annotation.PostConstruct;
import jakarta.ejb.Singleton;
import jakarta.ejb.Startup;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.inject.Inject;

/**
 * Checks the database when the application starts; what it throws fails the deployment. A session bean, because at the
 * end of CDI's own start the application's data sources need not be there yet.
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

    @PostConstruct
    void start() {
        if (extension.isOutboxUsed()) {
            outbox.start();
        }
    }
}
