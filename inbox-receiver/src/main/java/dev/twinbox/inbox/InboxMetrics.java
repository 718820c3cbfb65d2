package dev.twinbox.inbox;

import dev.twinbox.inbox.engine.ReceiverStatus;
import dev.twinbox.inbox.engine.ReceiverStatus.Total;
import jakarta.enterprise.inject.spi.Unmanaged;
import jakarta.inject.Inject;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.eclipse.microprofile.metrics.Counter;
import org.eclipse.microprofile.metrics.Metadata;
import org.eclipse.microprofile.metrics.MetricID;
import org.eclipse.microprofile.metrics.MetricRegistry;
import org.eclipse.microprofile.metrics.Tag;

/**
 * The figures of {@link InboxStatus} as metrics of the server. The class is not loaded if the server has no
 * MicroProfile Metrics.
 *
 * <p>Each name has one series. Topics, keys, types and handlers are not tags, because their number has no bound.
 */
final class InboxMetrics implements AutoCloseable {

    private static final String PREFIX = "twinbox_inbox_";

    private final MetricRegistry registry;
    private final Tag group;
    private final List<MetricID> registered = new ArrayList<>();
    private final Map<Total, Counter> counters = new EnumMap<>(Total.class);

    private InboxMetrics(MetricRegistry registry, String group) {
        this.registry = registry;
        this.group = new Tag("group", group);
    }

    /**
     * Registers the metrics. They must be closed with the application: the registry is the server's, and its entries
     * hold the application's classes.
     */
    static InboxMetrics of(ReceiverStatus status, String group) {
        InboxMetrics metrics = new InboxMetrics(registry(), group);
        for (Total total : Total.values()) {
            metrics.count(total);
        }
        status.report((total, more) -> {
            Counter counter = metrics.counters.get(total);
            if (counter != null) {
                counter.inc(more);
            }
        });
        metrics.show(
                "parked_waiting",
                "Parked events that are retried, or wait for one that is",
                () -> status.parkedEvents().waiting());
        metrics.show(
                "parked_dead",
                "Parked events that are not retried and need an operator",
                () -> status.parkedEvents().dead());
        metrics.show("hung_threads", "Threads that hang in a handler, although it was interrupted", () ->
                (long) status.hungThreads());
        metrics.show("troubles", "Troubles that keep the receiver from working; 0: it is ready", () ->
                (long) status.troubles().size());
        metrics.show("notes", "Notes that an operator should look at although the receiver works", () ->
                (long) status.notes().size());
        return metrics;
    }

    private static MetricRegistry registry() {
        var holder = new Unmanaged<>(RegistryHolder.class).newInstance();
        try {
            return holder.produce().inject().get().registry;
        } finally {
            holder.dispose();
        }
    }

    /** Payara provides a registry at an injection point only. */
    static class RegistryHolder {
        @Inject
        MetricRegistry registry;
    }

    private void count(Total total) {
        Metadata metadata = metadata(total.name().toLowerCase(Locale.ROOT) + "_total", total.meaning());
        counters.put(total, registry.counter(metadata, group));
    }

    private void show(String name, String meaning, Supplier<Long> value) {
        registry.gauge(metadata(name, meaning), value, group);
    }

    private Metadata metadata(String name, String meaning) {
        registered.add(new MetricID(PREFIX + name, group));
        return Metadata.builder()
                .withName(PREFIX + name)
                .withDescription(meaning)
                .build();
    }

    @Override
    public void close() {
        registered.forEach(registry::remove);
    }
}
