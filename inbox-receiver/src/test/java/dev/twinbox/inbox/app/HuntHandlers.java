package dev.twinbox.inbox.app;

import dev.twinbox.DeliveryContract;
import dev.twinbox.EventContext;
import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Stereotype;
import jakarta.inject.Inject;
import jakarta.interceptor.InterceptorBinding;
import jakarta.transaction.Transactional;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import org.eclipse.microprofile.faulttolerance.Retry;

/** The handlers of a hunt for faults. */
public final class HuntHandlers {

    private HuntHandlers() {}

    /** Many topics in one application. */
    @ApplicationScoped
    public static class Main {
        @Inject
        private Script script;

        @InboxHandler(topic = "hunt-anew", type = "order", name = "anew")
        public void onAnew(Order order) throws Exception {
            script.play("anew", order);
        }

        @InboxHandler(topic = "hunt-anew2", type = "order", name = "anew2")
        public void onAnew2(Order order) throws Exception {
            script.play("anew2", order);
        }

        @InboxHandler(topic = "hunt-gone", type = "order", name = "gone")
        public void onGone(Order order) throws Exception {
            script.play("gone", order);
        }

        @InboxHandler(topic = "hunt-wait", type = "order", name = "wait")
        public void onWait(Order order) throws Exception {
            script.play("wait", order);
        }

        @InboxHandler(topic = "hunt-json", type = "order", name = "json")
        public void onJson(Order order) throws Exception {
            script.play("json", order);
        }

        @InboxHandler(topic = "hunt-ce", type = "ce", name = "ce")
        public void onCloudEvent(String value, EventContext context) throws Exception {
            script.play("ce", new Order(context.id(), "", 0));
        }

        @InboxHandler(topic = "hunt-connect", type = "ce", name = "connect")
        public void onConnect(String value, EventContext context) throws Exception {
            script.play("connect", new Order(context.id(), "", 0));
        }

        @InboxHandler(topic = "hunt-pointer", type = "pointed", name = "pointer")
        public void onPointer(byte[] value, EventContext context) throws Exception {
            script.play("pointer", new Order(context.id(), "", 0));
        }

        @InboxHandler(topic = "hunt-headers", type = "order", name = "headers")
        public void onHeaders(Order order, EventContext context) throws Exception {
            script.play("headers", new Order(context.id(), order.action(), order.times()));
        }

        @InboxHandler(topic = "hunt-list", type = "order", name = "list", timeout = "PT1S")
        public void onList(List<Order> orders) throws Exception {
            for (Order order : orders) {
                script.play("list", order);
            }
        }

        @InboxHandler(topic = "hunt-once", type = "order", name = "once", delivery = DeliveryContract.AT_MOST_ONCE)
        public void onOnce(Order order) throws Exception {
            script.play("once", order);
        }
    }

    @ApplicationScoped
    public static class Latest {
        @Inject
        private Script script;

        @InboxHandler(topic = "hunt-late", type = "order", name = "late")
        public void onLate(Order order) throws Exception {
            script.play("late", order);
        }
    }

    /** Before the type was renamed. */
    @ApplicationScoped
    public static class FormerType {
        @Inject
        private Script script;

        @InboxHandler(topic = "hunt-alias", type = "former", name = "alias")
        public void on(Order order) throws Exception {
            script.play("alias", order);
        }
    }

    /** After it was. */
    @ApplicationScoped
    public static class NewType {
        @Inject
        private Script script;

        @InboxHandler(topic = "hunt-alias", type = "current", aliases = "former", name = "alias")
        public void on(Order order) throws Exception {
            script.play("alias", order);
        }
    }

    @ApplicationScoped
    public static class Exactly {
        @Inject
        private Script script;

        @InboxHandler(topic = "hunt-contract", type = "order", name = "contract")
        public void on(Order order) throws Exception {
            script.play("contract", order);
        }
    }

    @ApplicationScoped
    public static class AtMost {
        @Inject
        private Script script;

        @InboxHandler(
                topic = "hunt-contract",
                type = "order",
                name = "contract",
                delivery = DeliveryContract.AT_MOST_ONCE)
        public void on(Order order) throws Exception {
            script.play("contract", order);
        }
    }

    @ApplicationScoped
    public static class AtLeast {
        @Inject
        private Script script;

        @InboxHandler(topic = "hunt-least", type = "order", name = "least", delivery = DeliveryContract.AT_LEAST_ONCE)
        public void on(Order order) throws Exception {
            script.play("least", order);
        }
    }

    /** Another topic for each application that needs one only. */
    @ApplicationScoped
    public static class Plain {
        @Inject
        private Script script;

        @InboxHandler(topic = "hunt-plain", type = "order", name = "plain")
        public void on(Order order) throws Exception {
            script.play("plain", order);
        }
    }

    /** Interceptor bindings are transitive (CDI 4.0, 9.1.1). */
    @InterceptorBinding
    @Transactional(Transactional.TxType.REQUIRES_NEW)
    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.TYPE, ElementType.METHOD})
    public @interface Audited {}

    @ApplicationScoped
    public static class Bound {
        @Inject
        private Script script;

        @Audited
        @InboxHandler(topic = "hunt-bound", type = "order", name = "bound")
        public void on(Order order) throws Exception {
            script.play("bound", order);
        }
    }

    @Stereotype
    @Transactional(Transactional.TxType.REQUIRES_NEW)
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE)
    public @interface Base {}

    /** Stereotypes are transitive too (CDI 4.0, 2.8.1.5). */
    @Stereotype
    @Base
    @ApplicationScoped
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE)
    public @interface Service {}

    @Service
    public static class Stereotyped {
        @Inject
        private Script script;

        @InboxHandler(topic = "hunt-stereo", type = "order", name = "stereo")
        public void on(Order order) throws Exception {
            script.play("stereo", order);
        }
    }

    @ApplicationScoped
    public static class Retried {
        @Inject
        private Script script;

        @Retry(maxRetries = 3, delay = 0, jitter = 0)
        @InboxHandler(topic = "hunt-retry", type = "order", name = "retry")
        public void on(Order order) throws Exception {
            script.play("retry", order);
        }
    }
}
