package dev.twinbox.inbox.wrong;

import dev.twinbox.EventType;
import dev.twinbox.InboxHandler;
import jakarta.ejb.Stateless;
import jakarta.enterprise.inject.Vetoed;

/** Handlers that are right by themselves, but nobody would call them, or not in the receiver's transaction. */
public final class UnseenHandlerClasses {

    private UnseenHandlerClasses() {}

    @EventType(value = "known", topic = "known")
    public record Known(String id) {}

    /** No scope: CDI does not know it. */
    public static class WithoutScope {
        @InboxHandler
        public void handle(Known event) {}
    }

    @Vetoed
    public static class SwitchedOff {
        @InboxHandler
        public void handle(Known event) {}
    }

    /** The deployment descriptor decides about its transaction. */
    @Stateless
    public static class Described {
        @InboxHandler
        public void handle(Known event) {}
    }
}
