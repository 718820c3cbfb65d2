package dev.twinbox.proof.landscape;

import java.util.Set;

/** A file of the build that runs as a process or inside one. */
public enum BuiltFile {
    /** The relay's executable jar. */
    RELAY("outbox-relay/target/twinbox-relay.jar"),
    /** The jar with the inbox's {@code migrate} command. */
    INBOX_CLI("inbox-receiver/cli/target/twinbox-inbox-cli.jar"),
    /** The sample's producing service. */
    ORDERS("sample-app/orders/target/orders.war"),
    /** The sample's receiving service. */
    SHIPPING("sample-app/shipping/target/shipping.war"),
    /** The application server. */
    PAYARA("sample-app/proof/landscape/target/payara-micro.jar"),
    /** The application with what the benchmarks run inside the server. */
    BENCH("sample-app/proof/bench/target/bench.war"),
    /** The process with Debezium for the relay benchmark; its class path is in a file beside it. */
    BENCH_DEBEZIUM("sample-app/proof/bench-debezium/target/bench-debezium.jar"),
    /** The receiver of the crash matrix. */
    CRASH("sample-app/proof/crash/target/crash.war"),
    /** The agent that kills processes at the steps of the crash matrix. */
    BYTEMAN("sample-app/proof/tests/target/byteman.jar");

    /** What the sample needs. */
    public static final Set<BuiltFile> SAMPLE = Set.of(RELAY, INBOX_CLI, ORDERS, SHIPPING, PAYARA);

    private final String path;

    BuiltFile(String path) {
        this.path = path;
    }

    /** The path below the top folder of the repository. */
    String path() {
        return path;
    }
}
