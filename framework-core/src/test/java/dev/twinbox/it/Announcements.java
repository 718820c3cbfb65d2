package dev.twinbox.it;

import dev.twinbox.Outbox;
import dev.twinbox.OutboxEvent;
import jakarta.annotation.Resource;
import jakarta.ejb.EJBContext;
import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

/** Session bean methods of every legal shape. */
@Stateless
public class Announcements {

    /** Without annotation: topic, type and key are given where it is published. */
    public record Plain(UUID code, BigDecimal amount, LocalDate day, List<String> lines, Inner inner) {
        public record Inner(String text, Integer nothing) {}
    }

    /** Not a record: the key is read by a getter. */
    public static class Bean {
        private final String name;

        public Bean(String name) {
            this.name = name;
        }

        public String getName() {
            return name;
        }
    }

    @Resource
    EJBContext context;

    @Outbox
    public AccountChanged event(long account, String what) {
        return new AccountChanged(account, what);
    }

    @Outbox
    public AccountChanged nothing() {
        return null;
    }

    @Outbox
    public Optional<AccountChanged> optional(long account, String what) {
        return Optional.ofNullable(what).map(w -> new AccountChanged(account, w));
    }

    @Outbox
    public Collection<AccountChanged> collection(long account, String... what) {
        return Arrays.stream(what).map(w -> new AccountChanged(account, w)).toList();
    }

    @Outbox
    public Stream<AccountChanged> stream(long account, String... what) {
        return Arrays.stream(what).map(w -> new AccountChanged(account, w));
    }

    @Outbox(topic = "plain", key = "code", type = "plain.made")
    public Plain plain(UUID code) {
        return new Plain(
                code,
                new BigDecimal("12.50"),
                LocalDate.of(2026, 11, 29),
                List.of("a", "b"),
                new Plain.Inner("é€😀", null));
    }

    @Outbox(topic = "beans", key = "name", type = "bean.made")
    public Bean bean(String name) {
        return new Bean(name);
    }

    /** What the OutboxEvent has itself wins over the annotation. */
    @Outbox(topic = "ignored", type = "raw.sent")
    public OutboxEvent complete(String key) {
        return OutboxEvent.of("raw bytes".getBytes(StandardCharsets.UTF_8))
                .withTopic("raw")
                .withKey(key)
                .withSubject("about/it")
                .withContentType("text/plain")
                .withHeader("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
                .withHeader("quoted \"{,}\\", "é, \"ü\"\\");
    }

    @Outbox
    public AccountChanged thenThrow(long account) {
        throw new IllegalStateException("on purpose, account " + account);
    }

    @Outbox
    public AccountChanged thenRollbackOnly(long account) {
        context.setRollbackOnly();
        return new AccountChanged(account, "rolled back");
    }

    @Outbox
    @TransactionAttribute(TransactionAttributeType.REQUIRES_NEW)
    public AccountChanged inNewTransaction(long account, String what) {
        return new AccountChanged(account, what);
    }

    /** Refused: a topic that Kafka would refuse. */
    @Outbox
    public OutboxEvent illegalKey(long account) {
        return OutboxEvent.of(new AccountChanged(account, "x")).withKey("a\0b");
    }
}
