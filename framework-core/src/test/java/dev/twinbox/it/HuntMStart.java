package dev.twinbox.it;

import dev.twinbox.KeyLocks;
import jakarta.annotation.PostConstruct;
import jakarta.ejb.Singleton;
import jakarta.ejb.Startup;
import jakarta.inject.Inject;
import java.time.Duration;

/** Takes a lock while the application starts, perhaps before the locks have. */
@Singleton
@Startup
public class HuntMStart {

    @Inject
    KeyLocks locks;

    @PostConstruct
    void start() {
        System.out.println("HUNTM-START granted "
                + locks.tryLock("at the start " + System.nanoTime(), Duration.ofMinutes(10)).isPresent());
    }
}
