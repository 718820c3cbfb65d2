package dev.twinbox.relay;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.KafkaSettings;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.engine.Progress;
import dev.twinbox.relay.engine.Relay;
import dev.twinbox.relay.http.Health;
import dev.twinbox.relay.http.HttpEndpoint;
import dev.twinbox.relay.http.Metrics;
import dev.twinbox.relay.kafka.ProducerSettings;
import dev.twinbox.relay.kafka.Tracing;
import dev.twinbox.relay.log.Logging;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Relays until SIGTERM. */
@Command(
        name = "run",
        description =
                "Relays until SIGTERM, then settles what is in flight and exits with 0. Waits for a database or broker "
                        + "that is away; refuses to start on what only an operator can mend.")
final class RunCommand implements Callable<Integer> {
    private static final Logger LOG = LoggerFactory.getLogger(RunCommand.class);

    /** For what follows the settling: releasing the lease, closing connections. */
    private static final Duration CLOSING = Duration.ofSeconds(5);

    @Mixin
    private ConfigurationOption configuration;

    @Override
    public Integer call() {
        RelayConfig config = configuration.read();
        Logging.configure(config);
        LOG.info("twinbox-relay {} starts with {}", Version.number(), config);
        Tracing tracing = Tracing.of(config.telemetry());
        Progress progress = new Progress(System::nanoTime);
        Relay relay = new Relay(config, progress, tracing);
        Termination termination =
                Termination.install(relay::stop, config.shutdownTimeout().plus(CLOSING));
        ExitCode exitCode = ExitCode.INTERNAL;
        try {
            exitCode = run(config, progress, tracing, relay);
        } catch (RelayException e) {
            LOG.error(e.getMessage());
            exitCode = e.exitCode();
        } catch (RuntimeException | Error e) {
            LOG.error("Unforeseen", e);
        } finally {
            termination.ended(exitCode);
        }
        return exitCode.number();
    }

    private static ExitCode run(RelayConfig config, Progress progress, Tracing tracing, Relay relay) {
        KafkaSettings.tryOut(ProducerSettings.of(config));
        Health health = new Health(progress, config.readyTimeout());
        try (tracing;
                Metrics metrics = new Metrics(config.name(), config.delivery().mode(), progress);
                HttpEndpoint http = new HttpEndpoint(config, health, metrics);
                relay) {
            ExitCode end = relay.run();
            if (end == ExitCode.UNFINISHED) {
                // Nobody has to act, and nothing is lost: a failure it is not.
                LOG.info(
                        "Stopped with {} events in flight; they are sent again after the next start",
                        progress.backlog());
                end = ExitCode.OK;
            }
            LOG.info("Stopped at position {}, HTTP port {} closed", progress.position(), http.port());
            return end;
        }
    }
}
