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
 * What {@link InboxStatus} says, as metrics of the server. Not loaded where the server has no MicroProfile Metrics.
 *
 * <p>One series for each name: neither topics nor keys nor types nor handlers are tags, which others choose, and without bound.
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

    /** To be closed with the application: the registry is the server's, what is in it holds the application's classes. */
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
                "Parked events that are tried again, or wait behind one that is",
                () -> status.parkedEvents().waiting());
        metrics.show(
                "parked_dead",
                "Parked events that are given up and need an operator",
                () -> status.parkedEvents().dead());
        metrics.show("troubles", "Things that keep the receiver from getting on; 0: it is ready", () ->
                (long) status.troubles().size());
        metrics.show("notes", "Things that an operator should see to although the receiver gets on", () ->
                (long) status.notes().size());
        return metrics;
    }

    private static MetricRegistry registry() {
        var place = new Unmanaged<>(Place.class).newInstance();
        try {
            return place.produce().inject().get().registry;
        } finally {
            place.dispose();
        }
    }

    /** Payara gives a registry to a point of injection only. */
    static class Place {
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
