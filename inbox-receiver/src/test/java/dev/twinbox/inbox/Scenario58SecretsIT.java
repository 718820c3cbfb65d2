package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.inbox.app.SecretiveHandler;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Scenario 58, SECRETS: log, health, metrics and a parked event's error show no secret. The log shows nothing of an
 * event's content.
 */
@Tag("proof")
class Scenario58SecretsIT {

    private static final String APP = "secretive";
    private static final String SECRET = "mArKeR-s3cret";
    private static final String PERSONAL = "mArKeR-personal";

    private static Database database;
    private static Topics topics;

    @BeforeAll
    static void deploy() {
        database = new Database(APP);
        database.execute("create role " + APP + " superuser login password '" + SECRET + "'");
        topics = new Topics();
        Servers.kafka().createTopic(APP, 1);
        MainApp.deploy(app());
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy(APP);
        topics.close();
    }

    private static TestApp app() {
        return new TestApp(APP, database.name(), APP, SECRET)
                .with(SecretiveHandler.class)
                .with("twinbox.inbox.quick-tries", "1")
                .with(
                        "twinbox.inbox.kafka.sasl.jaas.config",
                        "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\""
                                + SECRET + "\";")
                .with("twinbox.inbox.kafka.ssl.truststore.password", SECRET)
                .with("twinbox.inbox.kafka.ssl.keystore.password", SECRET)
                .with("twinbox.inbox.kafka.ssl.key.password", SECRET);
    }

    @Test
    void neitherSecretsNorWhatIsInAnEventAreTold() {
        String good = Topics.id();
        send("{\"id\":\"" + PERSONAL + "\",\"times\":\"" + PERSONAL + "\"}");
        send("{\"id\":\"" + PERSONAL + "\"," + PERSONAL);
        topics.send(APP, good);
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(database.effects(APP)).containsExactly(good));
        assertThat(database.count("inbox_parked")).isEqualTo(2);

        // A password that was valid and is not any more. It matters for new connections only.
        database.execute("alter role " + APP + " password 'another'");
        database.execute("select pg_terminate_backend(pid) from pg_stat_activity where usename = '" + APP + "'");
        topics.send(APP, Topics.id());
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() ->
                        assertThat(Servers.payara().get("/secretive/status")).contains("trouble database="));
        String told = Servers.payara().log()
                + Servers.payara().get("/secretive/status")
                + Servers.payara().get("/health")
                + Servers.payara().get("/metrics");
        database.execute("alter role " + APP + " password '" + SECRET + "'");
        MainApp.awaitNoTrouble(APP);

        assertThat(told)
                .contains("sasl.jaas.config", "is parked and not retried")
                .doesNotContain(SECRET)
                .doesNotContain(PERSONAL);
        assertThat(database.texts("select error from inbox_parked"))
                .hasSize(2)
                .allSatisfy(error -> assertThat(error).doesNotContain(SECRET));
    }

    @Test
    void aRefusedDeploymentDoesNotShowThemEither() {
        String log = Servers.payara()
                .deploy(
                        "secretive-wrong",
                        new TestApp("secretive-wrong", database.name(), APP, SECRET)
                                .with(SecretiveHandler.class)
                                .with("twinbox.inbox.pasword", SECRET)
                                .with("twinbox.inbox.kafka.enable.auto.commit", "true")
                                .with("twinbox.inbox.kafka.sasl.jaas.config", SECRET)
                                .build());

        assertThat(log).contains("twinbox.inbox.pasword", "enable.auto.commit").doesNotContain(SECRET);
    }

    private static void send(String value) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(APP, 0, null, Topics.bytes(value));
        record.headers()
                .add(CloudEventHeaders.ID, Topics.bytes(Topics.id()))
                .add(CloudEventHeaders.TYPE, Topics.bytes("order"))
                .add("name", Topics.bytes(PERSONAL));
        topics.send(record);
    }
}
