package dev.twinbox.it;

import dev.twinbox.Outbox;

/** No scope: CDI does not know it, and nobody intercepts its calls. */
public class WithoutScope {

    @Outbox
    public AccountChanged publish() {
        return new AccountChanged(1, "never published");
    }
}
