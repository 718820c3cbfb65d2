package dev.twinbox.inbox.engine;

import static dev.twinbox.inbox.engine.Instance.record;
import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.event.UnknownType;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Instances are killed one after the other while an event waits at its guard. Each start of the handler was recorded
 * before the guard was asked, so the event was given up although its handler had never been called.
 */
class Fault83WaitsAtTheGuardIT {

    @Test
    void anEventThatWaitsAfterCrashesHasNotBeenStarted() {
        Database database = new Database("fault83");
        List<String> calls = new ArrayList<>();
        for (int crash = 0; crash < 6; crash++) {
            Instance next = new Instance(database, calls, UnknownType.SKIP, "repeatingGuarded:v1");

            Outcome outcome = next.receiveAfterCrash(record(0, "v1", "a", "k", "a"));

            assertThat(outcome.settled()).isZero();
            assertThat(database.count("inbox_parked")).isZero();
        }
        assertThat(calls).isEmpty();
    }
}
