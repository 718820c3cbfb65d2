package dev.twinbox.it;

import jakarta.annotation.PostConstruct;
import jakarta.ejb.Singleton;
import jakarta.ejb.Startup;
import jakarta.inject.Inject;

/** Scenario 4 (e): publishes while the application starts. A singleton's callback has a transaction by default. */
@Singleton
@Startup
public class StartupAnnouncement {

    static final long ACCOUNT = -4;

    @Inject
    Announcer announcer;

    @PostConstruct
    void announce() {
        announcer.announce(ACCOUNT, "started");
    }
}
