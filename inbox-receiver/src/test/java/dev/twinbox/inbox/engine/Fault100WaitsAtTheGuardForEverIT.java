package dev.twinbox.inbox.engine;

import static dev.twinbox.inbox.engine.Instance.record;
import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.engine.Outcome.Next;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.UnknownType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * An event waited for its guard without end and without a word, where a lock lasts 30 seconds: the lock's row was another
 * session's for ever, or its key in Redis had no expiry.
 */
class Fault100WaitsAtTheGuardForEverIT {

    private static final Duration LONGEST = Duration.ofSeconds(31);

    private final Logger logger = Logger.getLogger(Guard.class.getName());
    private final List<String> warnings = new ArrayList<>();
    private final List<String> calls = new ArrayList<>();
    private final Handler handler = new Handler() {
        @Override
        public void publish(LogRecord entry) {
            warnings.add(entry.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };

    Fault100WaitsAtTheGuardForEverIT() {
        logger.addHandler(handler);
    }

    @AfterEach
    void close() {
        logger.removeHandler(handler);
    }

    @Test
    void afterTheLongestLeaseTheInboxDecides() {
        Database database = new Database("fault100");
        Instance instance = new Instance(database, calls, UnknownType.SKIP, "oneGuarded:v1", "twoGuarded:v1");
        Batch batch = instance.batch(record(0, "v1", "a", "k", "a"));
        assertWaits(instance, batch);
        instance.nanos.addAndGet(LONGEST.toNanos());
        assertWaits(instance, batch);
        assertThat(warnings).isEmpty();

        instance.nanos.addAndGet(1);
        assertWaits(instance, batch); // now for the second handler
        assertThat(calls).containsExactly("oneGuarded:a");
        assertThat(warnings).singleElement().asString().contains("The guard of handler", "pg_locks");
        instance.nanos.addAndGet(LONGEST.toNanos() + 1);
        assertThat(instance.process(batch).settled()).isEqualTo(1);

        assertThat(calls).containsExactly("oneGuarded:a", "twoGuarded:a");
        assertThat(warnings).hasSize(2);
        assertThat(database.count("inbox_event")).isEqualTo(2);
    }

    private static void assertWaits(Instance instance, Batch batch) {
        assertThat(instance.process(batch).next()).isEqualTo(Next.WAIT_FOR_INSTANCE);
    }

    /** Its own handler hangs, and has the lock. */
    @Test
    void anEventThatTookTooLongIsParkedWithoutItsGuard() {
        Database database = new Database("fault100_hung");
        Instance instance = new Instance(database, calls, UnknownType.SKIP, "oneGuarded:v1");
        Batch batch = instance.batch(record(0, "v1", "a", "k", "a"));
        ReceivedEvent event = batch.events().get(0);
        event.handleAlone();
        event.tookTooLong(event.handlers().get(0), new IllegalStateException("it took too long"));

        assertThat(instance.process(batch).settled()).isEqualTo(1);
        assertThat(database.count("inbox_parked")).isEqualTo(1);
        assertThat(calls).isEmpty();
    }
}
