package dev.twinbox.relay.pause;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whoever waits at the gate passes when it is open and the condition holds, and not before. */
@Timeout(60)
class PauseGateTest {
    private final AtomicReference<Instant> told = new AtomicReference<>();
    private final PauseGate gate = new PauseGate(told::set);
    private final AtomicBoolean condition = new AtomicBoolean();
    private final AtomicInteger looks = new AtomicInteger();

    @Test
    void itOpensWhenBothAreTrue() throws Exception {
        Thread waiting = new Thread(() -> {
            try {
                gate.awaitOpen(this::look);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        waiting.start();
        await("it has looked").until(() -> looks.get() > 0);
        gate.set(Instant.EPOCH);
        assertThat(told).hasValue(Instant.EPOCH);
        condition.set(true);
        gate.recordChange();
        await("it waits").until(() -> waiting.getState() == Thread.State.WAITING);
        assertThat(looks).as("a closed gate does not ask").hasValue(1);

        gate.set(null);
        waiting.join();
        assertThat(looks).hasValue(2);
        assertThat(told.get()).isNull();
    }

    @Test
    void aLimitOfTimeEndsTheWait() throws Exception {
        assertThat(gate.awaitOpen(Duration.ofMillis(1), this::look)).isFalse();
        gate.set(Instant.EPOCH);
        assertThat(gate.isClosed()).isTrue();
        assertThat(gate.awaitOpen(Duration.ofMillis(1))).isFalse();
        gate.set(null);
        condition.set(true);
        assertThat(gate.awaitOpen(Duration.ZERO, this::look)).isTrue();
    }

    private boolean look() {
        looks.incrementAndGet();
        return condition.get();
    }
}
