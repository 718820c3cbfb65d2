package dev.twinbox.sample.demo;

import dev.twinbox.proof.landscape.Server;
import dev.twinbox.proof.landscape.StartProgress;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the page shows, as JSON.
 *
 * @param phase one of starting, running, failed, stopping
 * @param problem why the start failed; null otherwise
 * @param busy labels of the actions that are running
 */
public record PageState(
        String phase,
        @Nullable String problem,
        List<StartProgress.View> steps,
        Map<String, Server.View> servers,
        Figures figures,
        Ledger ledger,
        List<String> busy,
        List<Journal.Entry> log) {

    /**
     * The figures of the four services.
     *
     * @param lag committed events that are not on Kafka yet
     * @param position number of the relay's saved position; null: there is none yet
     * @param transaction the events of all transactions before this one are sent; null: there is none yet
     * @param repeats records on Kafka beyond the first one of each event
     * @param unshipped events on Kafka without a shipment
     * @param skipped duplicates that receivers have skipped
     */
    public record Figures(
            long orders,
            long events,
            long rolledBack,
            long lag,
            @Nullable Long position,
            @Nullable Long transaction,
            long records,
            long distinct,
            long repeats,
            long shipments,
            long unshipped,
            long skipped) {}

    /**
     * The line at the bottom.
     *
     * @param state one of none, exact, catching-up, wrong
     */
    public record Ledger(String state, long orders, long events, long shipments, String reason) {}
}
