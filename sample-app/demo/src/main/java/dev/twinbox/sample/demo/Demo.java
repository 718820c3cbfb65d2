package dev.twinbox.sample.demo;

import dev.twinbox.proof.appserver.Product;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Landscape;
import dev.twinbox.proof.landscape.Part;
import dev.twinbox.proof.landscape.Plan;
import dev.twinbox.proof.landscape.Server;
import dev.twinbox.proof.landscape.StartProgress;
import dev.twinbox.proof.landscape.Supervisor;
import dev.twinbox.sample.demo.DemoSettings.Use;
import dev.twinbox.sample.demo.LedgerResult.State;
import dev.twinbox.sample.demo.Observer.Sight;
import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The demo: the processes of the sample, their observer, and the page that shows both. */
final class Demo implements AutoCloseable {

    private final Journal journal;
    private final StartProgress progress;
    private final Supervisor supervisor;
    private final Actions actions;
    private final Observer observer;
    private final PageServer page;

    // Written by the starting thread, read by the page.
    private volatile Phase phase = Phase.STARTING;
    private volatile @Nullable String problem;

    private enum Phase {
        STARTING,
        RUNNING,
        FAILED,
        STOPPING
    }

    /**
     * Serves the page. Nothing else runs yet.
     *
     * @throws IllegalStateException if ports are in use; the message names all of them
     * @throws IOException if the page cannot be served
     */
    Demo(Installation installation, DemoSettings settings, Journal journal) throws IOException {
        settings.requireFreePorts();
        this.journal = journal;
        progress = new StartProgress(journal::write);
        Landscape landscape = new Landscape(installation, plan(settings));
        supervisor = new Supervisor(landscape, journal::write);
        Repeater repeater = new Repeater(landscape.bootstrapServers());
        actions = new Actions(supervisor, repeater, journal);
        observer = new Observer(landscape, repeater);
        page = new PageServer(settings.port(Use.PAGE), this::state, this::begin);
        journal.write("The page: " + page.address() + "  (Ctrl-C stops everything)");
    }

    private static Plan plan(DemoSettings settings) {
        Plan plan = Plan.withoutSpares().withPorts(settings.partPorts());
        Product product = settings.product();
        return product == null ? plan : plan.onProduct(product);
    }

    /**
     * Starts all servers.
     *
     * @throws RuntimeException if one cannot be started; the page shows the reason, too
     */
    void start() {
        long begun = System.nanoTime();
        try {
            supervisor.start(progress);
        } catch (RuntimeException e) {
            if (phase == Phase.STARTING) {
                problem = e.getMessage();
                phase = Phase.FAILED;
            }
            throw e;
        }
        observer.start();
        phase = Phase.RUNNING;
        journal.write(String.format(
                Locale.ROOT, "All servers are running, after %.1f s", (System.nanoTime() - begun) / 1_000_000_000.0));
    }

    /** Whether the demo was told to stop. An error after that is no failure. */
    boolean isStopping() {
        return phase == Phase.STOPPING;
    }

    /**
     * The command {@code ledger}, once all servers run.
     *
     * @throws IllegalStateException if the ledger is not exact in the end
     */
    void drill() {
        LedgerResult exact = new LedgerDrill(actions, observer, supervisor).run();
        journal.write("The ledger is exact: " + exact.orders() + " orders, " + exact.events() + " events, "
                + exact.records() + " records on Kafka, " + exact.shipments() + " shipments; "
                + observer.sight().skipped() + " duplicates skipped");
    }

    private void begin(Action action) {
        if (phase == Phase.RUNNING) {
            actions.begin(action);
        }
    }

    PageState state() {
        Sight sight = observer.sight();
        return new PageState(
                phase.name().toLowerCase(Locale.ROOT),
                problem,
                progress.views(),
                servers(),
                figures(sight),
                ledger(sight.verdict()),
                actions.running(),
                journal.entries());
    }

    /** By the names that the page uses. */
    private Map<String, Server.View> servers() {
        return Map.of(
                "postgres", supervisor.server(Part.POSTGRES).view(),
                "kafka", supervisor.server(Part.BROKER_1).view(),
                "relay", supervisor.server(Part.RELAY_1).view(),
                "orders", supervisor.server(Part.PRODUCER).view(),
                "shipping", supervisor.server(Part.RECEIVER_1).view());
    }

    private PageState.Figures figures(Sight sight) {
        LedgerResult verdict = sight.verdict();
        RelayPosition position = sight.position();
        return new PageState.Figures(
                verdict.orders(),
                verdict.events(),
                actions.rolledBack(),
                verdict.events() - verdict.distinct(),
                position == null ? null : position.number(),
                position == null ? null : position.transaction(),
                verdict.records(),
                verdict.distinct(),
                verdict.records() - verdict.distinct(),
                verdict.shipments(),
                Math.max(0, verdict.distinct() - verdict.shipments()),
                sight.skipped());
    }

    private PageState.Ledger ledger(LedgerResult verdict) {
        if (phase != Phase.RUNNING) {
            return new PageState.Ledger(
                    "none", 0, 0, 0, "orders, events and shipments are compared once the servers run");
        }
        return new PageState.Ledger(
                label(verdict.state()), verdict.orders(), verdict.events(), verdict.shipments(), verdict.reason());
    }

    private static String label(State state) {
        return switch (state) {
            case EXACT -> "exact";
            case CATCHING_UP -> "catching-up";
            case WRONG -> "wrong";
        };
    }

    @Override
    public void close() {
        phase = Phase.STOPPING;
        journal.write("Stopping all servers");
        observer.close();
        supervisor.close();
        page.close();
    }
}
