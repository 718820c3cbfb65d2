package dev.twinbox.sample.demo;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The built files that the demo runs as processes.
 *
 * @param relay the relay's executable jar
 * @param inboxCli the jar with the inbox's {@code migrate} command
 * @param orders the producing service
 * @param shipping the receiving service
 * @param bench the application with what the benchmarks run inside the server
 * @param benchDebezium the process with Debezium for the relay benchmark; its class path is in a file beside it
 * @param payara the application server
 */
public record Installation(
        Path relay, Path inboxCli, Path orders, Path shipping, Path bench, Path benchDebezium, Path payara) {

    /**
     * Finds them in a built source tree.
     *
     * @param root the top folder of the repository
     * @throws IllegalStateException naming every file that is missing and the command that builds it
     */
    public static Installation in(Path root) {
        Path top = root.toAbsolutePath().normalize();
        Installation found = new Installation(
                top.resolve("outbox-relay/target/outbox-relay.jar"),
                top.resolve("inbox-receiver/cli/target/twinbox-inbox-cli.jar"),
                top.resolve("sample-app/orders/target/orders.war"),
                top.resolve("sample-app/shipping/target/shipping.war"),
                top.resolve("sample-app/bench/target/bench.war"),
                top.resolve("sample-app/bench-debezium/target/bench-debezium.jar"),
                top.resolve("sample-app/demo/target/payara-micro.jar"));
        List<Path> missing = Stream.of(
                        found.relay,
                        found.inboxCli,
                        found.orders,
                        found.shipping,
                        found.bench,
                        found.benchDebezium,
                        found.payara)
                .filter(file -> !Files.isRegularFile(file))
                .toList();
        if (!missing.isEmpty()) {
            throw new IllegalStateException("Not built: "
                    + missing.stream().map(Path::toString).collect(Collectors.joining(", ")) + ". In " + top
                    + " run: ./mvnw package -DskipTests");
        }
        return found;
    }
}
