package dev.twinbox.inbox;

import dev.twinbox.inbox.engine.ReceiverStatus;
import dev.twinbox.inbox.engine.ReceiverStatus.Total;
import dev.twinbox.inbox.jdbc.ParkedTable;
import jakarta.enterprise.inject.spi.Unmanaged;
import jakarta.inject.Inject;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
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

    /** What is shown as it is now. Not a number means that it is not known. */
    private enum Figure {
        PARKED_WAITING("Parked events that are retried, or wait for one that is; NaN: not known") {
            @Override
            double of(ReceiverStatus status) {
                ParkedTable.Counts counts = status.parkedEventsIfKnown();
                return counts == null ? Double.NaN : counts.waiting();
            }
        },
        PARKED_DEAD("Parked events that are not retried and need an operator; NaN: not known") {
            @Override
            double of(ReceiverStatus status) {
                ParkedTable.Counts counts = status.parkedEventsIfKnown();
                return counts == null ? Double.NaN : counts.dead();
            }
        },
        HUNG_THREADS("Threads that hang in a handler, although it was interrupted") {
            @Override
            double of(ReceiverStatus status) {
                return status.hungThreads();
            }
        },
        OPEN_BREAKERS("Handlers that are not called for new events, because their circuit breaker is open") {
            @Override
            double of(ReceiverStatus status) {
                return status.openBreakers();
            }
        },
        PAUSED_TOPICS("Topics that an operator has paused") {
            @Override
            double of(ReceiverStatus status) {
                return status.paused().topics().size();
            }
        },
        PAUSED_HANDLERS("Handlers that an operator has paused") {
            @Override
            double of(ReceiverStatus status) {
                return status.paused().handlers().size();
            }
        },
        TROUBLES("Troubles that keep the receiver from working; 0: it is ready") {
            @Override
            double of(ReceiverStatus status) {
                return status.troubles().size();
            }
        },
        NOTES("Notes that an operator should look at although the receiver works") {
            @Override
            double of(ReceiverStatus status) {
                return status.notes().size();
            }
        };

        private final String meaning;

        Figure(String meaning) {
            this.meaning = meaning;
        }

        abstract double of(ReceiverStatus status);

        private String metric() {
            return PREFIX + name().toLowerCase(Locale.ROOT);
        }
    }

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
        for (Figure figure : Figure.values()) {
            metrics.registry.gauge(
                    metrics.metadata(figure.metric(), figure.meaning), () -> figure.of(status), metrics.group);
        }
        return metrics;
    }

    /** All metrics and what they mean: counters, which end in {@code _total}, and gauges. */
    static SortedMap<String, String> meanings() {
        SortedMap<String, String> meanings = new TreeMap<>();
        for (Total total : Total.values()) {
            meanings.put(metric(total), total.meaning());
        }
        for (Figure figure : Figure.values()) {
            meanings.put(figure.metric(), figure.meaning);
        }
        return meanings;
    }

    private static String metric(Total total) {
        return PREFIX + total.name().toLowerCase(Locale.ROOT) + "_total";
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
        counters.put(total, registry.counter(metadata(metric(total), total.meaning()), group));
    }

    private Metadata metadata(String name, String meaning) {
        registered.add(new MetricID(name, group));
        return Metadata.builder().withName(name).withDescription(meaning).build();
    }

    @Override
    public void close() {
        registered.forEach(registry::remove);
    }
}
