package dev.twinbox.inbox;

import dev.twinbox.fixtures.CodeLocation;
import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.inbox.server.PayaraHost;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.slf4j.Logger;
import org.slf4j.jul.JDK14LoggerAdapter;

/** Servers that the tests of this JVM share. Each is started when it is first needed and ends with the JVM. */
final class Servers {

    private Servers() {}

    private static final class Postgres {
        static final PostgresServer SERVER = PostgresServer.create().start();
    }

    private static final class Kafka {
        // Some topics claim to keep records for a second. The broker must not delete them, because tests read what
        // they have sent.
        static final KafkaBroker SERVER = KafkaBroker.create()
                .withSetting("log.retention.check.interval.ms", "86400000")
                .withJvmOptions("-XX:TieredStopAtLevel=1")
                .start();
    }

    private static final class Payara {
        // Not the JDBC driver: Payara keeps the pools of undeployed applications, and with a driver of the server's
        // their connections stay open.
        static final PayaraHost SERVER =
                new PayaraHost(Stream.of(KafkaConsumer.class, Logger.class, JDK14LoggerAdapter.class)
                        .map(CodeLocation::of)
                        .toList());
    }

    static PostgresServer postgres() {
        return Postgres.SERVER;
    }

    static KafkaBroker kafka() {
        return Kafka.SERVER;
    }

    static PayaraHost payara() {
        return Payara.SERVER;
    }

    /** A server of the caller's own; the caller closes it. */
    static PayaraHost newPayara() {
        return new PayaraHost();
    }
}
