package dev.twinbox.it;

import dev.twinbox.EventType;
import dev.twinbox.Outbox;
import dev.twinbox.OutboxEvent;
import jakarta.annotation.PostConstruct;
import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.ejb.TransactionManagement;
import jakarta.ejb.TransactionManagementType;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Dependent;
import jakarta.transaction.Transactional;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** All mistakes that the deployment has to refuse. */
public final class WrongBeans {

    private WrongBeans() {}

    public record Nameless(long id) {}

    @EventType(value = "wrong.key", topic = "wrong", key = "missing")
    public record WrongKey(long id) {}

    @EventType(value = "list.key", topic = "wrong", key = "ids")
    public record ListKey(List<Long> ids) {}

    @EventType(value = "wrong.topic", topic = "a/b c")
    public record WrongTopic(long id) {}

    @Dependent
    @Transactional
    public static class Shapes {
        @Outbox
        public AccessorEvent accessors() {
            return null;
        }

        @Outbox
        public void nothing() {}

        @Outbox
        public int number() {
            return 1;
        }

        @Outbox
        public String text() {
            return "";
        }

        @Outbox
        public AccountChanged[] array() {
            return new AccountChanged[0];
        }

        @Outbox
        public Map<String, AccountChanged> map() {
            return Map.of();
        }

        @Outbox
        public CompletionStage<AccountChanged> later() {
            return null;
        }

        @Outbox
        public Nameless nameless() {
            return null;
        }

        @Outbox(topic = "t")
        public List<Nameless> typeless() {
            return null;
        }

        @Outbox
        public WrongKey wrongKey() {
            return null;
        }

        @Outbox
        public ListKey listKey() {
            return null;
        }

        @Outbox(key = "nowhere")
        public AccountChanged wrongKeyOfMethod() {
            return null;
        }

        @Outbox
        public WrongTopic wrongTopic() {
            return null;
        }

        @Outbox(topic = "..", type = "t")
        public OutboxEvent wrongTopicOfMethod() {
            return null;
        }

        @Outbox
        public static AccountChanged aStatic() {
            return null;
        }

        @Outbox
        private AccountChanged aPrivate() {
            return null;
        }

        @Outbox
        @PostConstruct
        void callback() {}
    }

    @ApplicationScoped
    public static class Attributes {
        @Outbox
        @Transactional(Transactional.TxType.NOT_SUPPORTED)
        public AccountChanged notSupported() {
            return null;
        }

        @Outbox
        @Transactional(Transactional.TxType.NEVER)
        public AccountChanged never() {
            return null;
        }

        @Outbox
        public AccountChanged warned() {
            return null;
        }
    }

    @Stateless
    public static class SessionBean {
        @Outbox
        @TransactionAttribute(TransactionAttributeType.NOT_SUPPORTED)
        public AccountChanged notSupported() {
            return null;
        }

        @Outbox
        @TransactionAttribute(TransactionAttributeType.NEVER)
        public AccountChanged never() {
            return null;
        }

        @Outbox
        AccountChanged notPublic() {
            return null;
        }
    }

    @Stateless
    @TransactionManagement(TransactionManagementType.BEAN)
    public static class BeanManaged {
        @Outbox
        public AccountChanged own() {
            return null;
        }
    }

    @Stateless
    @Outbox
    public static class WholeClass {
        public AccountChanged good() {
            return null;
        }

        public long bad() {
            return 1;
        }
    }

    public interface OnInterface {
        @Outbox
        AccountChanged unseen();
    }

    @ApplicationScoped
    public static class Implementation implements OnInterface {
        @Override
        public AccountChanged unseen() {
            return null;
        }
    }

    public static class Parent {
        @Outbox
        public AccountChanged overridden() {
            return null;
        }

        @Outbox
        public Object again() {
            return null;
        }

        @Outbox
        public AccountChanged inherited() {
            return null;
        }
    }

    /** What it overrides without the annotation publishes nothing. */
    @ApplicationScoped
    @Transactional
    public static class Child extends Parent {
        @Override
        public AccountChanged overridden() {
            return null;
        }

        @Override
        @Outbox
        public AccountChanged again() {
            return null;
        }
    }
}
