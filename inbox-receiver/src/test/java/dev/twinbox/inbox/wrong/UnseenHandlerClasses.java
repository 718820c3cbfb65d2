package dev.twinbox.inbox.wrong;

import dev.twinbox.InboxHandler;
import dev.twinbox.inbox.wrong.WrongHandlers.Known;
import jakarta.ejb.Stateless;
import jakarta.enterprise.inject.Vetoed;

/** Handlers that are right by themselves, but nobody would call them, or not in the receiver's transaction. */
public final class UnseenHandlerClasses {

    private UnseenHandlerClasses() {}

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
