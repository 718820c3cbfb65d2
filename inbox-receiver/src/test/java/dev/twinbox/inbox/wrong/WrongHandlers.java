package dev.twinbox.inbox.wrong;

import dev.twinbox.DeliveryContract;
import dev.twinbox.EventContext;
import dev.twinbox.EventType;
import dev.twinbox.InboxHandler;
import dev.twinbox.RetryLaterException;
import jakarta.annotation.security.DenyAll;
import jakarta.annotation.security.PermitAll;
import jakarta.annotation.security.RolesAllowed;
import jakarta.ejb.Asynchronous;
import jakarta.ejb.Local;
import jakarta.ejb.Stateful;
import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.ejb.TransactionManagement;
import jakarta.ejb.TransactionManagementType;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.RequestScoped;
import jakarta.enterprise.inject.Stereotype;
import jakarta.interceptor.InterceptorBinding;
import jakarta.transaction.Transactional;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.faulttolerance.Fallback;
import org.eclipse.microprofile.faulttolerance.Retry;

/** One bean for each rule that the deployment enforces. */
public final class WrongHandlers {

    private WrongHandlers() {}

    /** Its annotation names type and topic. */
    @EventType(value = "known", topic = "known")
    public record Known(String id) {}

    /** No annotation names type or topic. */
    public record Unknown(String id) {}

    @ApplicationScoped
    public static class Shapes {
        @InboxHandler
        public void none() {}

        @InboxHandler
        public void three(Known event, EventContext context, String more) {}

        @InboxHandler
        public void swapped(EventContext context, Known event) {}

        @InboxHandler(topic = "t", type = "y")
        @SuppressWarnings("rawtypes")
        public void rawList(List events) {}

        @InboxHandler(topic = "t", type = "y")
        public void generic(Map<String, String> event) {}

        @InboxHandler(topic = "t", type = "y")
        public void primitive(int event) {}

        @InboxHandler
        public String result(Known event) {
            return "nobody sees this";
        }

        @InboxHandler
        void hidden(Known event) {}

        @InboxHandler
        public static void fixed(Known event) {}

        @InboxHandler
        public void unknown(Unknown event) {}

        @InboxHandler(topic = "no topic!", type = "y")
        public void illegalTopic(Known event) {}

        @InboxHandler
        public void overloaded(Known event) {}

        @InboxHandler
        public void overloaded(Known event, EventContext context) {}
    }

    @ApplicationScoped
    public static class Guards {
        @InboxHandler(guard = true)
        public void ofList(List<Known> events) {}

        @InboxHandler(guard = true, delivery = DeliveryContract.AT_MOST_ONCE)
        public void atMostOnce(Known event) {}
    }

    @ApplicationScoped
    public static class Transactions {
        @InboxHandler
        @Transactional(Transactional.TxType.REQUIRES_NEW)
        public void requiresNew(Known event) {}

        @InboxHandler
        @Transactional(Transactional.TxType.NEVER)
        public void never(Known event) {}
    }

    @ApplicationScoped
    @Transactional(Transactional.TxType.NOT_SUPPORTED)
    public static class TransactionOfClass {
        @InboxHandler
        public void notSupported(Known event) {}
    }

    @InterceptorBinding
    @Transactional(Transactional.TxType.REQUIRES_NEW)
    @Target({ElementType.TYPE, ElementType.METHOD})
    @Retention(RetentionPolicy.RUNTIME)
    public @interface Apart {}

    @ApplicationScoped
    public static class TransactionOfBinding {
        @InboxHandler
        @Apart
        public void handle(Known event) {}
    }

    @Stereotype
    @Transactional(Transactional.TxType.REQUIRES_NEW)
    @Target(ElementType.TYPE)
    @Retention(RetentionPolicy.RUNTIME)
    public @interface Inner {}

    @Stereotype
    @Inner
    @Target(ElementType.TYPE)
    @Retention(RetentionPolicy.RUNTIME)
    public @interface Outer {}

    @ApplicationScoped
    @Outer
    public static class TransactionOfStereotype {
        @InboxHandler
        public void handle(Known event) {}
    }

    @Stateless
    public static class Ejb {
        @InboxHandler
        @TransactionAttribute(TransactionAttributeType.REQUIRES_NEW)
        public void requiresNew(Known event) {}

        @InboxHandler
        @TransactionAttribute(TransactionAttributeType.NOT_SUPPORTED)
        public void notSupported(Known event) {}

        @InboxHandler
        @Asynchronous
        public void later(Known event) {}
    }

    /** Former names that are blank, or that lead to two types. */
    @ApplicationScoped
    public static class Aliases {
        @InboxHandler(
                topic = "aliases",
                type = "one",
                aliases = {"two", "old"},
                name = "one")
        public void one(byte[] value) {}

        @InboxHandler(topic = "aliases", type = "two", aliases = "old", name = "two")
        public void two(byte[] value) {}

        @InboxHandler(topic = "aliases", type = "three", aliases = " ", name = "three")
        public void three(byte[] value) {}
    }

    @Stateless
    @TransactionManagement(TransactionManagementType.BEAN)
    public static class BeanManaged {
        @InboxHandler
        public void handle(Known event) {}
    }

    @Stateful
    public static class OfOneClient {
        @InboxHandler
        public void handle(Known event) {}
    }

    @RequestScoped
    public static class OfOneRequest {
        @InboxHandler
        public void handle(Known event) {}
    }

    /** A view that does not declare the handler. */
    @Local
    public interface Business {
        void other();
    }

    @Stateless
    public static class OutsideOfItsView implements Business {
        @Override
        public void other() {}

        @InboxHandler
        public void handle(Known event) {}
    }

    /** Annotations of interfaces are not inherited. */
    public interface Annotated {
        @InboxHandler
        void handle(Known event);
    }

    @ApplicationScoped
    public static class OfInterface implements Annotated {
        @Override
        public void handle(Known event) {}
    }

    /** JSON-B cannot create it. */
    record Hidden(String id) {}

    /** JSON-B would never set its field. */
    public static class Accessors {
        private String orderId;

        public String orderId() {
            return orderId;
        }
    }

    @ApplicationScoped
    public static class Unreadable {
        @InboxHandler(topic = "t", type = "hidden")
        public void hidden(Hidden event) {}

        @InboxHandler(topic = "t", type = "accessors")
        public void accessors(List<Accessors> events) {}
    }

    @ApplicationScoped
    public static class RetryRules {
        @InboxHandler(notRetried = IllegalStateException.class, delivery = DeliveryContract.AT_MOST_ONCE)
        public void nothingIsRetried(Known event) {}

        @InboxHandler(delivery = DeliveryContract.AT_MOST_ONCE)
        public void nothingIsLate(Known event) throws RetryLaterException {}

        @InboxHandler(notRetried = RetryLaterException.class)
        public void neverAndLater(Known event) {}

        @InboxHandler(breakOn = IllegalStateException.class, delivery = DeliveryContract.AT_MOST_ONCE)
        public void nothingIsParked(Known event) {}

        @InboxHandler(breakOn = IllegalStateException.class, notRetried = IllegalStateException.class)
        public void pausedAndNever(Known event) {}
    }

    @ApplicationScoped
    public static class RetryOfMethod {
        @InboxHandler
        @Retry
        public void handle(Known event) {}
    }

    @ApplicationScoped
    @Retry(maxRetries = 1)
    public static class RetryOfClass {
        @InboxHandler
        public void handle(Known event) {}
    }

    @Stereotype
    @Retry
    @Target(ElementType.TYPE)
    @Retention(RetentionPolicy.RUNTIME)
    public @interface Patient {}

    @ApplicationScoped
    @Patient
    public static class RetryOfStereotype {
        @InboxHandler
        public void handle(Known event) {}
    }

    @ApplicationScoped
    public static class WithFallback {
        @InboxHandler
        @Fallback(fallbackMethod = "instead")
        public void handle(Known event) {}

        public void instead(Known event) {}
    }

    /** The receiver has no role. */
    @Stateless
    @RolesAllowed("admin")
    public static class ForRoles {
        @InboxHandler
        public void handle(Known event) {}
    }

    @Stateless
    @DenyAll
    public static class ForNobody {
        @InboxHandler
        public void handle(Known event) {}
    }

    @Stateless
    @PermitAll
    public static class MethodForRoles {
        @InboxHandler
        @RolesAllowed("admin")
        public void handle(Known event) {}
    }
}
