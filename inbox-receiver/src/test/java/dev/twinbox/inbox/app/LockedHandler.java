package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.ejb.ConcurrencyManagement;
import jakarta.ejb.ConcurrencyManagementType;
import jakarta.ejb.Lock;
import jakarta.ejb.LockType;
import jakarta.ejb.Singleton;

/** A singleton EJB. The container calls it for one thread at a time. */
@Singleton
public class LockedHandler {

    @InboxHandler(topic = "locked", type = "order", name = "locked")
    public void onOrder(Order order) {}

    @Lock(LockType.READ)
    @InboxHandler(topic = "locked", type = "order", name = "shared")
    public void onOrderToo(Order order) {}

    /** The same, with a lock of its own. */
    @Singleton
    @ConcurrencyManagement(ConcurrencyManagementType.BEAN)
    public static class OwnLock {

        @InboxHandler(topic = "locked", type = "order", name = "own-lock")
        public void onOrder(Order order) {}
    }
}
