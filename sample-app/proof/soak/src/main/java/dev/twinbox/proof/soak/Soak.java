package dev.twinbox.proof.soak;

import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Landscape;
import dev.twinbox.proof.landscape.Machine;
import dev.twinbox.proof.soak.Comparison.Glance;
import dev.twinbox.proof.soak.Comparison.Report;
import jakarta.json.Json;
import jakarta.json.JsonObjectBuilder;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/**
 * One run: traffic and faults for a given time, with comparisons meanwhile; then all events arrive, and the last
 * comparison.
 */
final class Soak {

    private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(30);
    private static final Duration AFTER_A_POSTPONED_LOOK = Duration.ofSeconds(3);
    private static final Duration BETWEEN_LAST_LOOKS = Duration.ofSeconds(1);

    /** However the faults fall, a comparison is possible within this time. */
    private static final Duration WITHOUT_LOOK_LIMIT = Duration.ofMinutes(10);

    /**
     * When nothing is broken, each comparison shows progress. A receiver's retry of a parked event may take minutes.
     */
    private static final Duration WITHOUT_PROGRESS_LIMIT = Duration.ofMinutes(10);

    private static final String DIFFERENT = "orders, events, shipments or series differ";

    private final Installation installation;
    private final Path root;
    private final Options options;
    private int looks;
    private int postponedLooks;
    private long mostUnsent;
    private long mostUnshipped;

    Soak(Installation installation, Path root, Options options) {
        this.installation = installation;
        this.root = root;
        this.options = options;
    }

    /**
     * What to run.
     *
     * @param length how long there are faults and traffic
     * @param perSecond orders per second, if the service answers
     */
    record Options(Duration length, long seed, int perSecond) {}

    /**
     * The result of a run.
     *
     * @param failure why the run was aborted; null: it was not
     * @param report the last comparison; null: there was none
     */
    record Outcome(@Nullable String failure, @Nullable Report report) {

        boolean isExact() {
            return failure == null && report != null && report.isExact();
        }
    }

    Outcome run() throws SQLException {
        Path file = root.resolve("target/soak")
                .resolve(options.seed() + "-" + options.length().toMinutes() + "min.jsonl");
        List<Fault> faults = FaultSchedule.of(options.seed(), options.length());
        try (FaultLog log = new FaultLog(file);
                SoakLandscape landscape = new SoakLandscape(installation, root)) {
            log.write("run", description());
            log.say("seed " + options.seed() + ", " + options.length() + ", " + faults.size() + " faults; log: "
                    + file);
            landscape.start(log::say);
            log.begin();
            log.say("all processes are running");
            return run(landscape, log, faults);
        }
    }

    private JsonObjectBuilder description() {
        return Json.createObjectBuilder()
                .add("seed", options.seed())
                .add("minutes", options.length().toMinutes())
                .add("per_second", options.perSecond())
                .add("commit", Machine.commit(root))
                .add("machine", Machine.json());
    }

    private Outcome run(SoakLandscape landscape, FaultLog log, List<Fault> faults) throws SQLException {
        Traffic traffic = new Traffic(landscape, options);
        Moves moves = new Moves();
        TopicCreatedAnew topic = new TopicCreatedAnew(
                landscape.landscape().bootstrapServers(),
                traffic.notices(),
                new SeriesReader(landscape.postgres(), moves),
                moves);
        FaultInjector injector = new FaultInjector(landscape, log, topic, faults);
        Outcome outcome;
        try (Comparison comparison = new Comparison(landscape, moves)) {
            traffic.start();
            injector.start();
            Outcome early = lookUntilTheEnd(comparison, injector, log);
            log.say("no more faults; waiting for the current ones and the last transactions");
            injector.stop();
            landscape.finishRollout();
            landscape.heal();
            traffic.close();
            outcome = early != null ? early : comeToRest(comparison, injector, log);
        }
        if (outcome.isExact()) {
            outcome = compareAnew(landscape, moves, log);
        }
        log.write("result", result(landscape, log, faults, outcome, traffic, injector));
        return outcome;
    }

    /** @return null if all is well at the end */
    private @Nullable Outcome lookUntilTheEnd(Comparison comparison, FaultInjector injector, FaultLog log) {
        Duration nextLook = BETWEEN_LOOKS.dividedBy(2);
        Duration lastLook = Duration.ZERO;
        while (log.elapsed().compareTo(options.length()) < 0) {
            LockSupport.parkNanos(Duration.ofMillis(200).toNanos());
            @Nullable String failure = injector.failure();
            if (failure != null) {
                return new Outcome(failure, null);
            }
            if (log.elapsed().compareTo(nextLook) < 0) {
                continue;
            }
            @Nullable Glance look = look(comparison, log);
            nextLook = log.elapsed().plus(look == null ? AFTER_A_POSTPONED_LOOK : BETWEEN_LOOKS);
            if (look != null) {
                lastLook = log.elapsed();
            }
            if (look != null && !look.report().isExact()) {
                return new Outcome(DIFFERENT, look.report());
            }
            if (log.elapsed().minus(lastLook).compareTo(WITHOUT_LOOK_LIMIT) > 0) {
                return new Outcome("no comparison was possible for " + WITHOUT_LOOK_LIMIT, null);
            }
        }
        return null;
    }

    /** @return null if a server did not answer */
    private @Nullable Glance look(Comparison comparison, FaultLog log) {
        try {
            Glance look = comparison.look();
            looks++;
            mostUnsent = Math.max(mostUnsent, look.orders().unsent());
            mostUnshipped = Math.max(mostUnshipped, look.orders().unshipped());
            log.write("look", look.json());
            log.say(look.toString());
            return look;
        } catch (SQLException | KafkaException e) {
            postponedLooks++;
            return null;
        }
    }

    private Outcome comeToRest(Comparison comparison, FaultInjector injector, FaultLog log) {
        long left = Long.MAX_VALUE;
        Duration lastProgress = log.elapsed();
        while (true) {
            @Nullable Glance look = look(comparison, log);
            @Nullable String failure = injector.failure();
            if (failure != null) {
                return new Outcome(failure, look == null ? null : look.report());
            }
            if (look != null && (!look.report().isExact() || look.isAtRest())) {
                return new Outcome(look.isAtRest() ? null : DIFFERENT, look.report());
            }
            if (look != null && look.onTheirWay() < left) {
                left = look.onTheirWay();
                lastProgress = log.elapsed();
            }
            if (log.elapsed().minus(lastProgress).compareTo(WITHOUT_PROGRESS_LIMIT) > 0) {
                return new Outcome(
                        "there was no progress for " + WITHOUT_PROGRESS_LIMIT + " although nothing is broken; " + left
                                + " events are on their way",
                        look == null ? null : look.report());
            }
            LockSupport.parkNanos(BETWEEN_LAST_LOOKS.toNanos());
        }
    }

    /** Reads everything again from the beginning. What was read bit by bit during the faults is not enough. */
    private static Outcome compareAnew(SoakLandscape landscape, Moves moves, FaultLog log) throws SQLException {
        log.say("reading everything again");
        try (Comparison comparison = new Comparison(landscape, moves)) {
            Report report = comparison.lastLook();
            return new Outcome(report.isExact() ? null : DIFFERENT, report);
        }
    }

    private JsonObjectBuilder result(
            SoakLandscape landscape,
            FaultLog log,
            List<Fault> faults,
            Outcome outcome,
            Traffic traffic,
            FaultInjector injector)
            throws SQLException {
        JsonObjectBuilder counts = Json.createObjectBuilder();
        log.counts().forEach((kind, count) -> counts.add(kind.name(), count));
        JsonObjectBuilder result = Json.createObjectBuilder()
                .add("exact", outcome.isExact())
                .add("failure", outcome.failure() == null ? "" : outcome.failure())
                .add("faults_planned", faults.size())
                .add("faults", counts)
                .add("looks", looks)
                .add("looks_postponed", postponedLooks)
                .add("most_unsent", mostUnsent)
                .add("most_unshipped", mostUnshipped)
                .add("orders_rolled_back", traffic.orders().declined())
                .add("calls_without_answer", traffic.orders().unanswered())
                .add("long_transactions_committed", traffic.transactions().committed())
                .add("long_transactions_rolled_back", traffic.transactions().rolledBack())
                .add("long_transactions_broken", traffic.transactions().failed())
                .add("servers_replaced", landscape.replaced())
                .add("relays_refused", landscape.refused())
                .add("role_faults_checked", landscape.roles().checked())
                .add("role_faults_not_ready", injector.noticed())
                .add("lease_epoch", leaseEpoch(landscape))
                .add("partitions", landscape.partitions().number());
        if (outcome.report() != null) {
            result.add("ledger", outcome.report().json());
        }
        return result;
    }

    /** Grows whenever another relay takes over the lease. */
    private static long leaseEpoch(SoakLandscape landscape) throws SQLException {
        try (Connection connection = landscape.postgres().connect(Landscape.ORDERS_DATABASE);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("-- soak: lease\nselect max(epoch) from outbox_lease")) {
            rows.next();
            return rows.getLong(1);
        }
    }

    /** The result as text. */
    static String summary(Outcome outcome) {
        return String.format(
                Locale.ROOT,
                "%s%s",
                outcome.failure() == null ? "" : "NOT passed: " + outcome.failure() + "\n",
                outcome.report() == null ? "no comparison" : outcome.report());
    }
}
