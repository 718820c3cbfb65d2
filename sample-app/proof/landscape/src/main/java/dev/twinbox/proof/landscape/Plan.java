package dev.twinbox.proof.landscape;

import dev.twinbox.fixtures.Ports;
import dev.twinbox.proof.appserver.Product;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * What a landscape is to be. It is changed by its {@code with…} methods.
 *
 * @param spares whether there is more than one broker, relay and receiver
 * @param partitions of the topic
 * @param ports fixed ports; a part without one gets a free port
 * @param outbox keys of the relay's configuration for its {@code migrate} command
 * @param configuration keys beside those that name the servers: {@code twinbox.relay.…} for the relays,
 *     {@code twinbox.inbox.…} for the receivers, {@code orders.…} and {@code shipping.…} for the applications, all others
 *     for relays and applications
 * @param routes how a relay or an application reaches the servers
 * @param product the application server of both services, with the data source of its documentation; null: Payara Micro
 *     6 with a local data source
 * @param wars what a receiver deploys instead of the sample's {@code shipping.war}; files of that name
 */
public record Plan(
        Spares spares,
        int partitions,
        Map<Part, Integer> ports,
        Map<String, String> outbox,
        Map<String, String> configuration,
        BiFunction<Servers, Part, Route> routes,
        @Nullable Product product,
        Map<Part, Path> wars) {

    private static final int PARTITIONS = 8;

    /** Copies what it is given. */
    public Plan {
        ports = Map.copyOf(ports);
        outbox = Map.copyOf(outbox);
        configuration = Map.copyOf(configuration);
        wars = Map.copyOf(wars);
    }

    /** One of each part, on free ports, without proxies. */
    public static Plan withoutSpares() {
        return with(Spares.NONE);
    }

    /** A spare of each part that can have one, on free ports, without proxies. */
    public static Plan withSpares() {
        return with(Spares.ALL);
    }

    private static Plan with(Spares spares) {
        return new Plan(
                spares,
                PARTITIONS,
                Map.of(),
                Map.of(),
                Map.of(),
                (servers, part) -> servers.directly(),
                null,
                Map.of());
    }

    /** The same with another number of partitions. */
    public Plan withPartitions(int number) {
        return new Plan(spares, number, ports, outbox, configuration, routes, product, wars);
    }

    /** The same with fixed ports. */
    public Plan withPorts(Map<Part, Integer> fixed) {
        return new Plan(spares, partitions, fixed, outbox, configuration, routes, product, wars);
    }

    /** The same with keys for {@code migrate}. */
    public Plan withOutbox(Map<String, String> keys) {
        return new Plan(spares, partitions, ports, keys, configuration, routes, product, wars);
    }

    /** The same with keys for relays and applications. */
    public Plan withConfiguration(Map<String, String> keys) {
        return new Plan(spares, partitions, ports, outbox, keys, routes, product, wars);
    }

    /** The same with proxies on the way to the servers. */
    public Plan withRoutes(BiFunction<Servers, Part, Route> ways) {
        return new Plan(spares, partitions, ports, outbox, configuration, ways, product, wars);
    }

    /** The same with both services on another application server. */
    public Plan onProduct(Product other) {
        return new Plan(spares, partitions, ports, outbox, configuration, routes, other, wars);
    }

    /** The same with other applications for receivers. */
    public Plan withWars(Map<Part, Path> files) {
        return new Plan(spares, partitions, ports, outbox, configuration, routes, product, files);
    }

    int port(Part part) {
        Integer fixed = ports.get(part);
        return fixed == null ? Ports.pick() : fixed;
    }
}
