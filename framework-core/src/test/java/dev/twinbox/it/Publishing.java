package dev.twinbox.it;

import dev.twinbox.Outbox;
import jakarta.ejb.Stateless;

/** The smallest application that publishes. */
@Stateless
public class Publishing {

    @Outbox
    public AccountChanged publish(long account) {
        return new AccountChanged(account, "published");
    }
}
