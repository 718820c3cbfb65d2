package dev.twinbox.inbox.engine;

import static dev.twinbox.inbox.engine.Instance.record;
import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.event.UnknownType;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A partition is lost while a batch of it is handled. The next owner handles the same events, and later ones of their
 * keys. The former owner still called its handlers, so an old event could have the last word.
 */
class Fault72LostPartitionIT {

    private static Database database;

    private final List<String> calls = new ArrayList<>();

    @BeforeAll
    static void create() {
        database = new Database("fault72");
    }

    @BeforeEach
    void clear() {
        database.execute("truncate inbox_event, inbox_parked, inbox_handler");
    }

    @Test
    void aBatchThatFailsIsNotTriedAloneAnyMore() {
        Instance former = new Instance(database, calls, UnknownType.SKIP, "repeating:v1");
        Batch batch = former.batch(record(0, "v1", "a", "k", "a fail"), record(1, "v1", "b", "k", "b"));
        former.beforeCall(batch::cutShort);

        Outcome outcome = former.process(batch);

        assertThat(outcome.settled()).isZero();
        assertThat(calls).containsExactly("repeating:a");
        assertThat(database.count("inbox_parked")).isZero();
    }

    @Test
    void anEventThatIsTriedAloneIsTheLastOne() {
        Instance former = new Instance(database, calls, UnknownType.SKIP, "repeating:v1", "repeatingToo:v1");
        Batch batch = former.batch(record(0, "v1", "a", "k", "a"), record(1, "v1", "b", "k", "b"));
        batch.events().get(0).handleAlone();
        batch.events().get(1).handleAlone();
        former.beforeCall(batch::cutShort);

        Outcome outcome = former.process(batch);

        assertThat(outcome.settled()).isZero();
        assertThat(calls).containsExactly("repeating:a");
    }

    @Test
    void aBatchThatHasWaitedForAWorkerIsNotBegun() {
        Instance former = new Instance(database, calls, UnknownType.SKIP, "repeating:v1");
        Batch batch = former.batch(record(0, "v1", "a", "k", "a"));
        batch.cutShort();

        assertThat(former.process(batch).settled()).isZero();
        assertThat(calls).isEmpty();
    }
}
