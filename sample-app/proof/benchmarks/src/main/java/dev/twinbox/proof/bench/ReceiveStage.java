package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.PayaraMicro;
import dev.twinbox.proof.bench.report.Console;
import dev.twinbox.proof.landscape.BuiltFile;
import dev.twinbox.proof.landscape.Installation;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;

/** What the receiver benchmarks share: servers, topics, tables, and Payara Micro with {@code bench.war}. */
final class ReceiveStage implements AutoCloseable {

    static final String JVM_OPTIONS = "-Xmx1g -XX:+UseSerialGC";
    static final int PARTITIONS = 4;

    private static final String MAX_HEAP = "1g";
    /** Small compared with the error of a run, and rare enough to cost nothing. */
    private static final Duration OFFSET_POLL = Duration.ofMillis(10);

    private static final Duration NO_PROGRESS = Duration.ofSeconds(60);

    private final BenchServers servers;
    private final TopicBacklog backlog;
    private final Deadline deadline;

    private ReceiveStage(BenchServers servers, Deadline deadline) {
        this.servers = servers;
        this.backlog = new TopicBacklog(servers.bootstrapServers());
        this.deadline = deadline;
    }

    static ReceiveStage start(Installation files, Deadline deadline) throws SQLException, IOException {
        BenchServers servers = BenchServers.start(files, deadline);
        try {
            migrate(servers);
            createTopics(servers);
            return new ReceiveStage(servers, deadline);
        } catch (RuntimeException | Error e) {
            servers.close();
            throw e;
        }
    }

    /**
     * Creates outbox and inbox. The benchmarks' application publishes as well, and does not start without an outbox.
     */
    static void migrate(BenchServers servers) {
        servers.relays().migrate();
        servers.servers().migrateInbox(BenchServers.DATABASE);
    }

    static void createTopics(BenchServers servers) {
        for (ReceiveSide side : ReceiveSide.ALL) {
            servers.topics().create(side.topic(), side.partitions());
        }
    }

    BenchServers servers() {
        return servers;
    }

    Effects effects() {
        return new Effects(servers.postgres(), BenchServers.DATABASE);
    }

    /** @param settings of the receiver beside the usual ones */
    PayaraMicro server(Map<String, String> settings) {
        String url = servers.postgres().jdbcUrl(BenchServers.DATABASE);
        return server(servers, url + (url.contains("?") ? "&" : "?") + "reWriteBatchedInserts=true", settings);
    }

    /** Starts a server with {@code bench.war}. */
    static PayaraMicro server(BenchServers servers, String url, Map<String, String> settings) {
        Console.say("starting Payara Micro, " + settings);
        PayaraMicro.Builder builder = servers.servers()
                .receiver(servers.servers().directly(), BuiltFile.BENCH, "bench", BenchServers.DATABASE)
                .systemProperty("bench.database.url", url)
                .maxHeap(MAX_HEAP);
        settings.forEach(builder::systemProperty);
        PayaraMicro server = builder.build();
        try {
            return server.start().awaitHttp("/bench/api/ready");
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
    }

    /**
     * What it took to handle a workload.
     *
     * @param time from the moment when the records were visible until the group had committed the last offset
     */
    record Effort(Duration time, ProcessorTime spent) {}

    /** Sends a workload and makes it visible. Returns when it is handled. */
    Effort deliver(PayaraMicro server, ReceiveSide side, Workload workload, Delivery delivery) {
        return deliver(server, side, backlog.send(workload, side.topic(), delivery));
    }

    /** As {@link #deliver(PayaraMicro, ReceiveSide, Workload, Delivery)}, with events that are there twice at once. */
    Effort deliverTwice(PayaraMicro server, ReceiveSide side, Workload workload, int percentTwice) {
        return deliver(server, side, backlog.sendTwice(workload, side.topic(), side.partitions(), percentTwice));
    }

    private Effort deliver(PayaraMicro server, ReceiveSide side, Map<Integer, Long> ends) {
        ProcessorTime before = ProcessorTime.with(servers, server);
        long start = System.nanoTime();
        backlog.commit();
        Duration time = Duration.ofNanos(awaitCommitted(server, side, ends) - start);
        return new Effort(time, ProcessorTime.with(servers, server).since(before));
    }

    /** Returns {@link System#nanoTime()} of the moment just after it was seen. */
    private long awaitCommitted(PayaraMicro server, ReceiveSide side, Map<Integer, Long> ends) {
        Advance advance = new Advance();
        return deadline.await("the end of " + side.topic(), OFFSET_POLL, () -> {
            Map<Integer, Long> committed = servers.topics().committed(side.group(), side.topic());
            advance.to(committed);
            if (!server.isAlive() || advance.sinceLast().compareTo(NO_PROGRESS) > 0) {
                throw new InvalidRunException(side.label() + " stopped at offsets " + committed + " of " + ends
                        + ". The server's log: " + server.logFile());
            }
            return ends.entrySet().stream().allMatch(end -> committed.getOrDefault(end.getKey(), 0L) >= end.getValue());
        });
    }

    /** How long the committed offsets have not changed. */
    private static final class Advance {
        private Map<Integer, Long> offsets = Map.of();
        private long nanos = System.nanoTime();

        void to(Map<Integer, Long> committed) {
            if (!committed.equals(offsets)) {
                offsets = committed;
                nanos = System.nanoTime();
            }
        }

        Duration sinceLast() {
            return Duration.ofNanos(System.nanoTime() - nanos);
        }
    }

    @Override
    public void close() throws IOException {
        backlog.close();
        servers.close();
    }
}
