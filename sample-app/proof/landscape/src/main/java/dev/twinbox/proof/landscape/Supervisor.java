package dev.twinbox.proof.landscape;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/** Runs a landscape and restarts each of its processes when it ends, as an orchestrator would. */
public final class Supervisor implements AutoCloseable {

    /** A server takes seconds to start, on a busy machine minutes. */
    private static final Duration START_LIMIT = Duration.ofMinutes(5);

    private final Landscape landscape;
    private final Map<Part, Server> servers = new EnumMap<>(Part.class);
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "supervisor");
        thread.setDaemon(true);
        return thread;
    });

    /**
     * Starts nothing yet.
     *
     * @param landscape is closed with this supervisor
     * @param journal takes a line for each kill, end and restart
     */
    public Supervisor(Landscape landscape, Consumer<String> journal) {
        this.landscape = landscape;
        for (Part part : landscape.parts()) {
            servers.put(
                    part,
                    new Server(
                            part.title(),
                            landscape.process(part),
                            () -> landscape.startAndAwait(part, START_LIMIT),
                            journal,
                            threads));
        }
    }

    /**
     * Starts all processes; returns when all of them can be used.
     *
     * @throws IllegalStateException with the first failure, if a process cannot be started
     */
    public void start(StartProgress progress) {
        landscape.start(progress, part -> server(part).start());
    }

    /** What is supervised. */
    public Landscape landscape() {
        return landscape;
    }

    /** The supervised process of a part. */
    public Server server(Part part) {
        return Objects.requireNonNull(servers.get(part), () -> "This landscape has no " + part);
    }

    /** Whether all processes can be used now. */
    public boolean isAllUp() {
        return servers.values().stream().allMatch(server -> server.health() == Server.Health.UP);
    }

    /** Ends the restarts, then all processes. */
    @Override
    public void close() {
        servers.values().forEach(Server::letGo);
        landscape.close();
        threads.shutdownNow();
    }
}
