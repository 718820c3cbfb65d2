package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.Ledger;
import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.http.Health;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.ParkedState;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The clock of the relay's host is two hours ahead, so Kafka refuses all timestamps. All events were parked as refused,
 * each for an operator, and stayed so when the clock was right again.
 */
@Tag("proof")
class Fault40ClockIT {
    private static final Duration TWO_HOURS = Duration.ofHours(2);
    private static final int EVENTS = 50;

    /** The producer's clock minus the real one, in milliseconds. */
    private final AtomicLong ahead = new AtomicLong();

    @Test
    void aWrongClockParksNothingAndIsNamedUntilItIsRight() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            // In a test both clocks are the same one. So the database's goes two hours slow instead.
            setDatabaseClock(connection, TWO_HOURS.negated());
            rig.relayDatabase = withSlowClock(rig.database);
            ahead.set(TWO_HOURS.toMillis());
            rig.between = real -> withClock(real, rig.topic);
            insert(rig, connection, rig.topic);
            EngineRig.Running relay = rig.start();
            Health health = new Health(relay.progress(), Duration.ofMinutes(5));
            await("the cause")
                    .until(() -> health.ready()
                            .json()
                            .toString()
                            .contains("the clock of this host is PT2H ahead of the database's"));
            assertThat(health.ready().status()).isEqualTo(Health.Status.DOWN);
            assertThat(rig.number("select count(*) from outbox_parked")).isZero();
            assertThat(rig.recordCount()).isZero();

            ahead.set(0);
            setDatabaseClock(connection, Duration.ZERO);
            rig.awaitRecords(EVENTS);
            rig.assertExact();
            await("ready").until(() -> health.ready().status() == Health.Status.UP);
            assertThat(rig.number("select count(*) from outbox_parked")).isZero();
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    /** The clocks agree, so it is the limit of this topic: its events wait, those of other topics do not. */
    @Test
    void aTopicWithAStrictLimitWaitsAlone() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            String strict = rig.topic + "-strict";
            EngineRig.KAFKA.createTopic(strict, 3, Map.of());
            ahead.set(TWO_HOURS.toMillis());
            rig.between = real -> withClock(real, strict);
            insert(rig, connection, strict);
            insert(rig, connection, rig.topic);
            EngineRig.Running relay = rig.start();
            rig.awaitRecords(EVENTS);
            await("all of the strict topic wait")
                    .until(() ->
                            rig.number("select count(*) from outbox_parked where topic = '" + strict + "'") == EVENTS);
            assertThat(rig.parkedIn(ParkedState.REFUSED)).isZero();
            insert(rig, connection, rig.topic);
            rig.awaitRecords(2 * EVENTS);

            ahead.set(0);
            rig.awaitNothingParked();
            await("all of both topics, in order")
                    .untilAsserted(() -> Ledger.create()
                            .committed(connection, "select topic, key, id, payload from outbox_event order by seq")
                            .published(EngineRig.KAFKA.bootstrapServers())
                            .assertExact());
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    private static void insert(EngineRig rig, Connection connection, String topic) throws SQLException {
        for (int i : IntStream.range(0, EVENTS).toArray()) {
            OutboxDatabaseFixture.insert(connection, topic, "k" + i % 5, ("event " + i).getBytes());
        }
    }

    private static void setDatabaseClock(Connection connection, Duration offset) throws SQLException {
        OutboxDatabaseFixture.execute(
                connection,
                "create schema if not exists slow;"
                        + "create or replace function slow.clock_timestamp() returns timestamptz language sql volatile as"
                        + " $$ select pg_catalog.clock_timestamp() + interval '" + offset.toSeconds() + " seconds' $$");
    }

    /** Its statements find the function above before PostgreSQL's own. */
    private static OutboxDatabase withSlowClock(OutboxDatabaseFixture database) {
        PGSimpleDataSource source = database.dataSource();
        source.setOptions("-c search_path=slow,pg_catalog,public");
        return new OutboxDatabase(source, Duration.ofSeconds(60));
    }

    /** The records of this topic get their timestamp from a clock that is ahead. */
    @SuppressWarnings("unchecked")
    private Producer<byte[], byte[]> withClock(Producer<byte[], byte[]> real, String topic) {
        return (Producer<byte[], byte[]>) Proxy.newProxyInstance(
                Producer.class.getClassLoader(), new Class<?>[] {Producer.class}, (self, method, arguments) -> {
                    Object[] changed = arguments;
                    if (method.getName().equals("send") && ahead.get() != 0) {
                        ProducerRecord<byte[], byte[]> record = (ProducerRecord<byte[], byte[]>) arguments[0];
                        changed = arguments.clone();
                        changed[0] = record.topic().equals(topic) ? stamped(record) : record;
                    }
                    try {
                        return method.invoke(real, changed);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private ProducerRecord<byte[], byte[]> stamped(ProducerRecord<byte[], byte[]> record) {
        return new ProducerRecord<>(
                record.topic(),
                record.partition(),
                System.currentTimeMillis() + ahead.get(),
                record.key(),
                record.value(),
                record.headers());
    }
}
