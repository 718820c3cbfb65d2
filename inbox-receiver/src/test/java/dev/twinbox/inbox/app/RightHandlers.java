package dev.twinbox.inbox.app;

import dev.twinbox.EventReading;
import dev.twinbox.InboxHandler;
import jakarta.annotation.security.PermitAll;
import jakarta.annotation.security.RolesAllowed;
import jakarta.ejb.Stateless;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Alternative;
import jakarta.inject.Inject;
import jakarta.json.bind.annotation.JsonbCreator;
import jakarta.json.bind.annotation.JsonbProperty;

/** Handlers that look odd and are right. Each stores the id of its event. */
public final class RightHandlers {

    private RightHandlers() {}

    /** A generic interface: the compiler adds a bridge method {@code on(Object)} with the same annotations. */
    public interface Handles<E> {
        void on(E event) throws Exception;
    }

    @ApplicationScoped
    public static class Bridged implements Handles<Order> {

        @Inject
        private Script script;

        @Override
        @InboxHandler(topic = "right", type = "order")
        public void on(Order order) throws Exception {
            script.play("bridged", order);
        }
    }

    /** Its only view is the generic interface. */
    @Stateless
    public static class BridgedEjb implements Handles<Order> {

        @Inject
        private Script script;

        @Override
        @InboxHandler(topic = "right", type = "order")
        public void on(Order order) throws Exception {
            script.play("bridgedEjb", order);
        }
    }

    /** Its method is annotated here and where it is overridden. */
    public abstract static class Parent {

        @InboxHandler(topic = "right", type = "order")
        public void overridden(Order order) throws Exception {
            throw new IllegalStateException("overridden");
        }
    }

    @ApplicationScoped
    public static class Child extends Parent {

        @Inject
        private Script script;

        @Override
        @InboxHandler(topic = "right", type = "order")
        public void overridden(Order order) throws Exception {
            script.play("overridden", order);
        }
    }

    /** Not enabled in this application. */
    @Alternative
    @ApplicationScoped
    public static class Disabled {

        @InboxHandler(topic = "right", type = "order", name = "disabled")
        public void disabled(Order order) {
            throw new IllegalStateException("disabled");
        }
    }

    /** Its class demands a role, its handler does not. */
    @Stateless
    @RolesAllowed("admin")
    public static class Permitted {

        @Inject
        private Script script;

        @PermitAll
        @InboxHandler(topic = "right", type = "order", name = "permitted")
        public void on(Order order) throws Exception {
            script.play("permitted", order);
        }
    }

    /** What the strict and the lenient handler take. */
    public record Amount(String id, long orderId, int amount) {
        @JsonbCreator
        public Amount(
                @JsonbProperty("id") String id,
                @JsonbProperty("orderId") long orderId,
                @JsonbProperty("amount") int amount) {
            this.id = id;
            this.orderId = orderId;
            this.amount = amount;
        }
    }

    @ApplicationScoped
    public static class Amounts {

        @Inject
        private Script script;

        @InboxHandler(topic = "amounts", type = "amount", name = "strict")
        public void strict(Amount amount) throws Exception {
            script.writeEffect("strict", amount.id() + " " + amount.orderId() + " " + amount.amount());
        }

        @InboxHandler(topic = "amounts", type = "amount", name = "lenient", reading = EventReading.LENIENT)
        public void lenient(Amount amount) throws Exception {
            script.writeEffect("lenient", amount.id() + " " + amount.orderId());
        }
    }
}
