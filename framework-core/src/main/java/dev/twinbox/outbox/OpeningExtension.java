package dev.twinbox.outbox;

import jakarta.enterprise.inject.spi.Extension;
import org.jspecify.annotations.Nullable;

/**
 * Remembers how the outbox of the application opens, for the readiness check. Public because the service loader demands
 * it; not for applications.
 *
 * <p>The check cannot be given the outbox itself. On Payara a bean that an extension adds does not see those of its
 * library.
 */
public class OpeningExtension implements Extension {

    /** Written when the application starts, read by the readiness check. */
    private volatile @Nullable Opening opening;

    /** Called when the outbox is first used. */
    void opens(Opening ofOutbox) {
        opening = ofOutbox;
    }

    /** Null if the application has not started yet. */
    @Nullable Opening opening() {
        return opening;
    }
}
