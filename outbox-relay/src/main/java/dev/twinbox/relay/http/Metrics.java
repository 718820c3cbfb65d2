package dev.twinbox.relay.http;

import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.engine.PagePart;
import dev.twinbox.relay.engine.Progress;
import dev.twinbox.relay.jdbc.Backlog;
import dev.twinbox.relay.jdbc.ParkedCount;
import dev.twinbox.relay.jdbc.ParkedState;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Figures of {@link Progress} and of the JVM for Prometheus. No series depends on topics, keys or events, so the number
 * of series is fixed.
 */
public final class Metrics implements AutoCloseable {
    /** Upper limits of a histogram's buckets. */
    private static final Duration[] PAGE_TIMES = IntStream.of(1, 2, 5, 10, 25, 50, 100, 250, 1_000, 5_000)
            .mapToObj(Duration::ofMillis)
            .toArray(Duration[]::new);

    private static final Duration[] DELIVERY_TIMES = IntStream.of(
                    5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 1_800_000)
            .mapToObj(Duration::ofMillis)
            .toArray(Duration[]::new);

    /** The same for the parts of a page, most of which are far below a millisecond. */
    private static final Duration[] PART_TIMES = IntStream.of(
                    50, 100, 200, 300, 400, 600, 800, 1_000, 1_500, 2_000, 3_000, 5_000, 10_000, 20_000, 50_000,
                    100_000, 1_000_000)
            .mapToObj(micros -> Duration.ofNanos(micros * 1_000L))
            .toArray(Duration[]::new);

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics collections = new JvmGcMetrics();
    private final Progress progress;
    private final DeliveryMode delivery;

    /**
     * Registers all meters.
     *
     * @param relay name of the relay, a label of each of its series
     */
    public Metrics(String relay, DeliveryMode delivery, Progress progress) {
        this.delivery = delivery;
        this.progress = progress;
        // Prometheus' linter refuses both names, and nobody needs the figures.
        registry.config()
                .commonTags("relay", relay)
                .meterFilter(MeterFilter.denyNameStartsWith("system.cpu.count"))
                .meterFilter(MeterFilter.denyNameStartsWith("process.cpu.time"));
        counters();
        parts();
        waiting();
        sending();
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
        collections.bindTo(registry);
    }

    private void counters() {
        counter("polls", "Polls of the outbox that succeeded", Progress::polls);
        Timer pages = Timer.builder("twinbox.relay.page.read")
                .description("Time to read a page from the database, empty pages included")
                .serviceLevelObjectives(PAGE_TIMES)
                .register(registry);
        progress.listenToPageTimes(nanos -> pages.record(nanos, TimeUnit.NANOSECONDS));
        Timer deliveries = Timer.builder("twinbox.relay.commit.to.acknowledgement")
                .description("From an event's commit to its acknowledgement by Kafka, without what was read first")
                .serviceLevelObjectives(DELIVERY_TIMES)
                .register(registry);
        progress.listenToDeliveryTimes(nanos -> deliveries.record(nanos, TimeUnit.NANOSECONDS));
        counter("acknowledged", "Events acknowledged by Kafka, repeated ones included", Progress::acknowledgedRecords);
        counter("acknowledged.bytes", "Payload bytes of the acknowledged events", Progress::acknowledgedBytes);
        counter("events.parked", "Events parked instead of sent, for any reason", Progress::parkedRecords);
        counter("events.retried", "Parked events that were sent by a retry", Progress::retriedRecords);
        counter(
                "events.resent",
                "Events sent again for jobs of \"resend\"",
                p -> p.observed().resend().sent());
        counter("position.saves", "Positions made durable", Progress::saves);
        counter(
                "slots.emptied",
                "Slots of the event table that were emptied",
                p -> p.observed().slotsEmptied());
        counter(
                "scheduled.moved",
                "Scheduled events that became due",
                p -> p.observed().scheduledMoved());
        counter("database.failures", "Database faults that were waited out", Progress::databaseFailures);
        counter("kafka.failures", "Kafka faults that were waited out", Progress::brokerFailures);
    }

    private void parts() {
        Map<PagePart, Timer> timers = new EnumMap<>(PagePart.class);
        for (PagePart part : PagePart.values()) {
            timers.put(
                    part,
                    Timer.builder("twinbox.relay.page.part")
                            .description(
                                    "Time of the pages with events in each part of their way, see the documentation")
                            .tag("part", part.name().toLowerCase(Locale.ROOT))
                            .serviceLevelObjectives(PART_TIMES)
                            .register(registry));
        }
        progress.listenToParts((part, nanos) ->
                Objects.requireNonNull(timers.get(part), "all have one").record(nanos, TimeUnit.NANOSECONDS));
    }

    private void waiting() {
        gauge(
                "lag.events",
                "Committed events after the saved position, counted up to " + Backlog.LIMIT
                        + "; 0 on a standby, NaN: not known",
                p -> seen(p, p.observed().backlog(), Backlog::events));
        Gauge.builder("twinbox.relay.lag", progress, p -> seen(p, p.observed().backlog(), Metrics::age))
                .baseUnit("seconds")
                .description("Age of the oldest unsent event; 0: there is none, or a standby; NaN: not known")
                .register(registry);
        for (ParkedState state : ParkedState.values()) {
            Gauge.builder(
                            "twinbox.relay.parked",
                            progress,
                            p -> seen(p, p.observed().parked(), count -> count.of(state)))
                    .description("Parked events by state, counted up to " + ParkedCount.LIMIT
                            + "; 0 on a standby, NaN: not known")
                    .tag("state", state.sql())
                    .register(registry);
        }
    }

    /** What the owner of the lease has seen. What it could not read is not a number, and not zero. */
    private static <T> double seen(Progress progress, @Nullable T observed, ToDoubleFunction<T> value) {
        if (observed != null) {
            return value.applyAsDouble(observed);
        }
        return progress.lease() == Progress.Lease.ELSEWHERE ? 0 : Double.NaN;
    }

    private static double age(Backlog backlog) {
        Duration oldest = backlog.oldest();
        return oldest == null ? 0 : oldest.toNanos() / 1e9;
    }

    private void sending() {
        gauge("in.flight", "Events read and not yet acknowledged", Progress::backlog);
        gauge("lease.held", "1: this process sends; 0: it is a standby", p -> p.lease() == Progress.Lease.HELD ? 1 : 0);
        gauge("lease.epoch", "Grows with each change of the owner", Progress::epoch);
        gauge(
                "outbox.bytes",
                "Size of the event table with its indexes; 0 on a standby, NaN: not known",
                p -> seen(p, p.observed().bytes(), bytes -> bytes));
        seconds(
                "rotation.stopped",
                "For how long an inactive slot could not be emptied; 0: all are empty",
                p -> p.observed().rotationStopped());
        gauge(
                "exactly.once",
                "1: publishes in Kafka transactions, exactly once; 0: at least once",
                p -> delivery == DeliveryMode.EXACTLY_ONCE ? 1 : 0);
        gauge("paused", "1: an operator has paused the relay", p -> p.pausedSince() == null ? 0 : 1);
        gauge(
                "paused.topics",
                "Topics that an operator has paused; 0 on a standby, NaN: not known",
                p -> seen(p, p.observed().pausedTopics(), Map::size));
        gauge(
                "resend.active",
                "1: this process works on a job of \"resend\"",
                p -> p.observed().resend().isActive() ? 1 : 0);
        seconds("poll.age", "Time since the last successful poll", Progress::sincePoll);
        seconds(
                "still",
                "For how long events have been in flight without progress; 0 without any",
                Progress::sinceMove);
        seconds("first.read", "From the start of the process to its first poll; 0 before it", Progress::firstRead);
        seconds(
                "last.ack",
                "From the start of the process to the latest acknowledgement",
                Progress::lastAcknowledgement);
    }

    private void counter(String name, String meaning, ToDoubleFunction<Progress> value) {
        FunctionCounter.builder("twinbox.relay." + name, progress, value)
                .description(meaning)
                .register(registry);
    }

    private void gauge(String name, String meaning, ToDoubleFunction<Progress> value) {
        Gauge.builder("twinbox.relay." + name, progress, value)
                .description(meaning)
                .register(registry);
    }

    private void seconds(String name, String meaning, Function<Progress, Duration> value) {
        Gauge.builder("twinbox.relay." + name, progress, p -> value.apply(p).toNanos() / 1e9)
                .baseUnit("seconds")
                .description(meaning)
                .register(registry);
    }

    /** Prometheus' text format. */
    String scrape() {
        return registry.scrape();
    }

    @Override
    public void close() {
        collections.close();
        registry.close();
    }
}
