package dev.twinbox.proof.landscape;

import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.TcpProxy;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * How a process reaches the servers.
 *
 * @param toPostgres a proxy on the way to PostgreSQL; null: the process connects directly
 * @param toKafka one proxy per broker, in their order; empty: the process connects directly
 */
public record Route(Servers servers, @Nullable TcpProxy toPostgres, List<TcpProxy> toKafka) {

    /** Copies the proxies. */
    public Route {
        toKafka = List.copyOf(toKafka);
    }

    /** The same with a proxy on the way to PostgreSQL. */
    public Route toPostgresThrough(TcpProxy proxy) {
        return new Route(servers, proxy, toKafka);
    }

    /** The same with a proxy on the way to each broker. */
    public Route toKafkaThrough(List<TcpProxy> proxies) {
        return new Route(servers, toPostgres, proxies);
    }

    /** The port of PostgreSQL on 127.0.0.1. */
    int postgresPort() {
        return toPostgres == null ? servers.postgres().port() : toPostgres.port();
    }

    /** The JDBC URL of a database. */
    public String jdbcUrl(String database) {
        return toPostgres == null
                ? servers.postgres().jdbcUrl(database)
                : servers.postgres().jdbcUrl(database, toPostgres);
    }

    /** {@code bootstrap.servers} of Kafka clients. */
    public String bootstrapServers() {
        List<KafkaBroker> brokers = servers.brokers();
        return IntStream.range(0, brokers.size())
                .mapToObj(i -> toKafka.isEmpty()
                        ? brokers.get(i).bootstrapServers()
                        : brokers.get(i).bootstrapServers(toKafka.get(i)))
                .collect(Collectors.joining(","));
    }
}
