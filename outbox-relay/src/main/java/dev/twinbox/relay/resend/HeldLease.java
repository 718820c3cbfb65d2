package dev.twinbox.relay.resend;

import java.util.UUID;

/** The lease under which a job is carried out. */
public interface HeldLease {
    /** Waits while it is not certain that the lease is held. Returns the monotonic time at which it was. */
    long awaitHeld() throws InterruptedException;

    UUID owner();

    long epoch();
}
