package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.proof.bench.report.Console;
import dev.twinbox.proof.bench.report.Latencies;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures one relay: applications commit by an open-loop schedule, one rate after the other. Each event's times are
 * noted inside the relay.
 *
 * @param deadline of the whole benchmark
 */
record LatencyRun(BenchServers servers, Schedules schedules, Deadline deadline) {
    static final String TOPIC = "bench-latency";
    static final int PARTITIONS = 8;
    static final int MAIN_RATE = 2_000;
    static final List<Integer> RATES = List.of(600, MAIN_RATE, 8_000);
    static final List<String> JVM_OPTIONS = List.of("-Xms512m", "-Xmx512m");

    private static final int KEYS = 10_000;
    /** With more commits per second this would measure the disk. */
    private static final int TRANSACTIONS_PER_SECOND = 2_000;

    /**
     * What is committed when.
     *
     * @param all the first warms the relay up and is not measured; then one for each of {@link #RATES}
     */
    record Schedules(List<OpenLoop.Schedule> all, Workload workload) {
        /** @param rows events at the main rate; the other rates take the same time */
        static Schedules of(int rows) {
            List<OpenLoop.Schedule> all = new ArrayList<>();
            int first = add(all, 0, Math.max(1_000, rows / 3), MAIN_RATE);
            for (int rate : RATES) {
                first = add(all, first, (int) ((long) rows * rate / MAIN_RATE), rate);
            }
            return new Schedules(all, new Workload(first, KEYS, 1));
        }

        private static int add(List<OpenLoop.Schedule> all, int first, int events, int rate) {
            int perTransaction = Math.max(1, rate / TRANSACTIONS_PER_SECOND);
            int whole = Math.max(1, events / perTransaction) * perTransaction;
            all.add(new OpenLoop.Schedule(first, whole, rate, perTransaction));
            return first + whole;
        }
    }

    /**
     * The result of one rate.
     *
     * @param toHandOver from COMMIT to the producer
     * @param fromHandOver from the producer to the acknowledgement
     * @param before the relay's metrics before this rate
     * @param after the relay's metrics after it
     */
    record Result(
            int rate,
            Latencies fromCommit,
            Latencies fromDue,
            Latencies toHandOver,
            Latencies fromHandOver,
            RelayMetrics before,
            RelayMetrics after) {}

    /** The topic must be empty, and the relay's outbox too. */
    List<Result> of(Relays relays) throws SQLException, IOException {
        int events = schedules.workload().events();
        Path file = servers.folder().resolve("ack-times");
        AckTimes.Notes notes = AckTimes.notes(file, events);
        List<String> options = new ArrayList<>(JVM_OPTIONS);
        options.addAll(AckTimes.jvmOptions(servers.folder(), file, events));
        List<OpenLoop.Running> done = new ArrayList<>();
        List<RelayMetrics> metrics = new ArrayList<>(); // after each schedule
        try (RelayProcess relay = relays.with("twinbox.relay.kafka.interceptor.classes", AckTimes.class.getName())
                .start(options)) {
            relay.awaitReady(deadline.remaining("the relay"));
            OpenLoop applications = new OpenLoop(servers, EventTable.TWINBOX, schedules.workload(), TOPIC, deadline);
            for (OpenLoop.Schedule schedule : schedules.all()) {
                Console.say("committing " + schedule.events() + " events, " + schedule.perSecond() + "/s");
                done.add(applications.run(schedule));
                metrics.add(RelayMetrics.awaitAcknowledged(relay, schedule.end(), deadline));
            }
            Relays.stop(relay);
        }
        TopicCheck.check(servers.bootstrapServers(), TOPIC, schedules.workload(), TopicCheck.Order.ANY, deadline);
        List<Result> results = new ArrayList<>();
        for (int i = 1; i < done.size(); i++) {
            done.get(i).requireOnTime();
            results.add(result(done.get(i), notes, metrics.get(i - 1), metrics.get(i)));
        }
        return results;
    }

    private static Result result(OpenLoop.Running run, AckTimes.Notes notes, RelayMetrics before, RelayMetrics after) {
        Result result = new Result(
                run.schedule().perSecond(),
                new Latencies(),
                new Latencies(),
                new Latencies(),
                new Latencies(),
                before,
                after);
        for (int number = run.schedule().first(); number < run.schedule().end(); number++) {
            long at = notes.acknowledgedAt(number);
            long handed = notes.handedAt(number);
            if (at == 0 || handed == 0) {
                throw new InvalidRunException(
                        "event " + number + " is on the topic, but its acknowledgement was not seen");
            }
            // The acknowledgement may arrive before the answer to the COMMIT.
            result.fromCommit.add(Math.max(0, at - run.committedAt(number)));
            result.fromDue.add(at - run.dueAt(number));
            result.toHandOver.add(Math.max(0, handed - run.committedAt(number)));
            result.fromHandOver.add(Math.max(0, at - handed));
        }
        return result;
    }
}
