package dev.twinbox.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.OutboxEvent;
import dev.twinbox.OutboxPublisher;
import jakarta.inject.Inject;
import java.util.Random;
import java.util.UUID;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * LOB-OID: beside Hibernate, payloads are in the table itself, as {@code bytea}. No mapping can make a large object of
 * them, since the outbox has no entity.
 */
@Tag("proof")
@ExtendWith(ArquillianExtension.class)
public class Scenario33LobOidIT {

    private static final int BYTES = 5_000_000;

    @Inject
    OutboxPublisher publisher;

    @Inject
    Transactions transactions;

    @Inject
    Resources resources;

    @Deployment
    public static WebArchive application() {
        return TestWar.named("lob", """
                        twinbox.outbox.data-source=java:app/jdbc/main
                        twinbox.outbox.source=/tests/lob
                        twinbox.outbox.max-payload-bytes=6000000
                        """)
                .addAsLibraries(TestWar.hibernate())
                .addAsResource("persistence.xml", "META-INF/persistence.xml")
                .addClasses(Account.class, AccountListener.class, AccountChanged.class, Announcer.class)
                .addClasses(Transactions.class, Transactions.Work.class, Resources.class, Committed.class);
    }

    @Test
    void aPayloadOfFiveMegabytesIsReadBackByPlainSQLAndNoLargeObjectIsMade() throws Exception {
        byte[] payload = new byte[BYTES];
        new Random(33).nextBytes(payload);
        UUID[] id = new UUID[1];

        transactions.required(() -> {
            resources.entityManager("hibernate").persist(new Account(33, "lob"));
            id[0] = publisher.publish(OutboxEvent.of(payload).withTopic("lobs").withType("lob.stored"));
        });

        assertThat(Committed.rows("twinbox.it.url", "select payload from outbox_event where id = ?", id[0])
                        .get(0)
                        .get("payload"))
                .isEqualTo(payload);
        assertThat(Committed.accounts(33)).isEqualTo(1);
        assertThat(Committed.column("twinbox.it.url", "select count(*) from pg_largeobject_metadata"))
                .containsExactly("0");
        assertThat(Committed.column(
                        "twinbox.it.url",
                        "select distinct a.atttypid::regtype from pg_attribute a join pg_class c on c.oid = a.attrelid"
                                + " where c.relname like 'outbox\\_%' and c.relkind in ('r', 'p') and a.attnum > 0"))
                .contains("bytea")
                .doesNotContain("oid", "lo");
    }
}
