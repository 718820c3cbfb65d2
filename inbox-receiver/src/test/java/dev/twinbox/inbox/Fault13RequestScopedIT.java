package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.inbox.app.TenantHandlers;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Every second event of a batch has no tenant. A {@code @RequestScoped} bean kept the one of the event before, and the
 * effect was committed for the wrong tenant.
 */
class Fault13RequestScopedIT {

    private static final String APP = "tenants";

    private static Database database;
    private static Topics topics;

    @BeforeAll
    static void deploy() {
        database = new Database(APP);
        topics = new Topics();
        Servers.kafka().createTopic(APP, 1);
        MainApp.deploy(new TestApp(APP, database.name()).with(TenantHandlers.class, TenantHandlers.Tenant.class));
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy(APP);
        topics.close();
    }

    @Test
    void noRequestScopedInstanceSurvivesACall() {
        List<String> withTenant = new ArrayList<>();
        List<String> without = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            String id = Topics.id();
            ProducerRecord<byte[], byte[]> record =
                    new ProducerRecord<>(APP, 0, null, Topics.bytes(Topics.order(id, "", 0)));
            record.headers().add(CloudEventHeaders.ID, Topics.bytes(id));
            record.headers().add(CloudEventHeaders.TYPE, Topics.bytes("order"));
            if (i % 2 == 0) {
                record.headers().add("tenant", Topics.bytes("acme"));
            }
            (i % 2 == 0 ? withTenant : without).add(id);
            topics.add(record);
        }
        topics.flush();
        MainApp.awaitLagZero(APP, APP);

        assertThat(database.effects("of acme")).containsExactlyElementsOf(withTenant);
        assertThat(database.effects("of nobody")).containsExactlyElementsOf(without);
        assertThat(database.texts("select distinct xmin::text from effect"))
                .as("transactions of the batch")
                .hasSize(1);
    }
}
