package dev.twinbox.relay.engine;

import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.kafka.Topics;
import dev.twinbox.relay.pause.PauseGate;
import dev.twinbox.relay.pause.PausedTopics;
import dev.twinbox.relay.resend.ResendLoop;
import java.util.function.Function;
import org.apache.kafka.clients.producer.Producer;

/**
 * What a relay keeps from one session to the next.
 *
 * @param producers open a producer for a purpose
 * @param known what sessions have learned about records that are still to be sent
 * @param progress written by the relay's threads
 * @param main wakes the main thread
 */
record RelayResources(
        RelayConfig config,
        OutboxDatabase database,
        Function<String, Producer<byte[], byte[]>> producers,
        Topics topics,
        KnownOutcomes known,
        Progress progress,
        Waiter main) {
    /** The loop that sends events again while the lease is held. It has a connection of its own. */
    ResendLoop resend(Lease lease, PauseGate gate, PausedTopics pausedTopics) {
        return new ResendLoop(
                config,
                database,
                producers,
                topics,
                lease,
                gate,
                pausedTopics,
                progress.observed().resend());
    }
}
