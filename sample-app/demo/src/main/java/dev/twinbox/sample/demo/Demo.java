package dev.twinbox.sample.demo;

import dev.twinbox.sample.demo.Books.State;
import dev.twinbox.sample.demo.Books.Verdict;
import dev.twinbox.sample.demo.DemoSettings.Use;
import dev.twinbox.sample.demo.Observer.Sight;
import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The demo: the landscape, who observes it, and the page that shows both. */
final class Demo implements AutoCloseable {

    private final Journal journal;
    private final StartProgress progress;
    private final Landscape landscape;
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
     * Serves the page; nothing else runs yet.
     *
     * @throws IllegalStateException naming all ports in use
     * @throws IOException if the page cannot be served
     */
    Demo(Installation installation, DemoSettings settings, Journal journal) throws IOException {
        settings.requireFreePorts();
        this.journal = journal;
        progress = new StartProgress(journal);
        landscape = new Landscape(installation, settings, journal);
        Repeater repeater = new Repeater(landscape.kafka().bootstrapServers());
        actions = new Actions(landscape, repeater, journal);
        observer = new Observer(landscape, repeater);
        page = new PageServer(settings.port(Use.PAGE), this::state, this::begin);
        journal.write("The page: " + page.address() + "  (Ctrl-C stops everything)");
    }

    /**
     * Starts all servers.
     *
     * @throws RuntimeException if one does not come up; the page says so, too
     */
    void start() {
        long begun = System.nanoTime();
        try {
            landscape.start(progress);
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
                Locale.ROOT, "All servers run, after %.1f s", (System.nanoTime() - begun) / 1_000_000_000.0));
    }

    /** Whether it was told to end; what fails from then on is no failure. */
    boolean isStopping() {
        return phase == Phase.STOPPING;
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

    private Map<String, Server.View> servers() {
        return landscape.processes().entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, entry -> entry.getValue().view()));
    }

    private PageState.Figures figures(Sight sight) {
        Verdict verdict = sight.verdict();
        OrdersBook.Position position = sight.position();
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

    private PageState.Ledger ledger(Verdict verdict) {
        if (phase != Phase.RUNNING) {
            return new PageState.Ledger("none", 0, 0, 0, "compares orders, events and shipments once the servers run");
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
        journal.write("Asked to stop: ending everything that was started");
        observer.close();
        landscape.close();
        page.close();
    }
}
