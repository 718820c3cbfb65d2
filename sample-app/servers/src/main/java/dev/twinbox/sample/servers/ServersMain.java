package dev.twinbox.sample.servers;

import dev.twinbox.fixtures.ChildProcessException;
import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.PostgresServer;
import java.util.concurrent.CountDownLatch;

/** The command {@code servers} of {@code sample-app/run}. */
public final class ServersMain {

    private static final int FAILED = 1;
    private static final int WRONG_USE = 2;
    private static final String POSTGRES_PORT = "servers.postgres.port";
    private static final String KAFKA_PORT = "servers.kafka.port";

    private ServersMain() {}

    /** Starts both servers, prints their addresses and runs until Ctrl-C. The servers and their data go with this process. */
    public static void main(String[] arguments) throws InterruptedException {
        try {
            requireNone(arguments);
            start(port(POSTGRES_PORT, 8414), port(KAFKA_PORT, 8415));
        } catch (IllegalArgumentException e) {
            end(WRONG_USE, e);
        } catch (IllegalStateException | ChildProcessException e) {
            end(FAILED, e);
        }
        new CountDownLatch(1).await();
    }

    private static void start(int postgresPort, int kafkaPort) {
        PostgresServer postgres = PostgresServer.create().withPort(postgresPort).start();
        // First-tier compilation: a quick start matters more here than throughput.
        KafkaBroker kafka = KafkaBroker.create()
                .withPort(kafkaPort)
                .withJvmOptions("-XX:TieredStopAtLevel=1")
                .start();
        System.out.println("PostgreSQL: " + postgres.jdbcUrl("postgres") + ", user " + postgres.user() + ", password "
                + postgres.password());
        System.out.println("Kafka: " + kafka.bootstrapServers());
    }

    private static void requireNone(String[] arguments) {
        if (arguments.length > 0) {
            throw new IllegalArgumentException("Unknown argument: " + arguments[0]);
        }
    }

    private static int port(String property, int otherwise) {
        String value = System.getProperty(property);
        if (value == null) {
            return otherwise;
        }
        if (!value.matches("[1-9][0-9]{0,4}") || Integer.parseInt(value) > 65_535) {
            throw new IllegalArgumentException(property + " is \"" + value + "\"; a port is a number from 1 to 65535");
        }
        return Integer.parseInt(value);
    }

    private static void end(int code, RuntimeException cause) {
        System.err.println(cause.getMessage());
        System.exit(code);
    }
}
