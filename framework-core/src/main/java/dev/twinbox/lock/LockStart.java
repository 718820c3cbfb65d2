package dev.twinbox.lock;

import jakarta.annotation.PostConstruct;
import jakarta.ejb.Singleton;
import jakarta.ejb.Startup;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.inject.Inject;

/**
 * Checks the locks' table when the application starts. What it throws fails the deployment. It is a session bean, since
 * the application's data sources may be missing when CDI itself has started.
 *
 * <p>Public because session beans have to be; not for applications.
 */
@Singleton
@Startup
@TransactionAttribute(TransactionAttributeType.NOT_SUPPORTED)
public class LockStart {

    @Inject
    LockExtension extension;

    @Inject
    FencedKeyLocks locks;

    @PostConstruct
    void start() {
        if (extension.isUsed()) {
            locks.start();
        }
    }
}
