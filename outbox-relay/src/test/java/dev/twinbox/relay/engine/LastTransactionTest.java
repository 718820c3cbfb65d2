package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.engine.LastTransaction.Outcome;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable.Prepared;
import dev.twinbox.relay.jdbc.Snapshot;
import org.junit.jupiter.api.Test;

/** The outcome of the last transaction, for each combination of what the database and Kafka hold. */
class LastTransactionTest {
    private static final Position BEFORE = Position.closed(Snapshot.parse("10:10:"));
    private static final Position BEHIND = Position.open(Snapshot.parse("10:10:"), Snapshot.parse("20:20:"), 7);
    private static final Prepared PREPARED = new Prepared(5, BEFORE, 3L, BEHIND);
    private static final Prepared CONFIRMED = new Prepared(6, BEHIND, 5L, null);

    @Test
    void theNumberOfTheRowMeansThatItsTransactionIsCommitted() {
        assertThat(resolve(PREPARED, 5L)).isEqualTo(new LastTransaction(Outcome.COMMITTED, BEHIND));
    }

    @Test
    void theNumberBeforeMeansThatItIsNot() {
        assertThat(resolve(PREPARED, 3L)).isEqualTo(new LastTransaction(Outcome.NOT_COMMITTED, BEFORE));
    }

    @Test
    void aRowWithoutANextPositionIsConfirmed() {
        assertThat(resolve(CONFIRMED, 5L)).isEqualTo(new LastTransaction(Outcome.CONFIRMED, BEHIND));
    }

    @Test
    void aRowThatSaysNothingOfKafkaIsABeginningWhateverKafkaSays() {
        Prepared row = new Prepared(4, BEFORE, null, BEFORE);
        assertThat(resolve(row, null)).isEqualTo(new LastTransaction(Outcome.FIRST, BEFORE));
        assertThat(resolve(row, 4L)).isEqualTo(new LastTransaction(Outcome.FIRST, BEFORE));
        assertThat(resolve(Prepared.NOTHING, 99L)).isEqualTo(new LastTransaction(Outcome.FIRST, Position.START));
    }

    @Test
    void anyOtherNumberIsRefused() {
        for (long unknown : new long[] {0, 2, 4, 6, 100}) {
            assertThatThrownBy(() -> resolve(PREPARED, unknown))
                    .isInstanceOf(RelayException.class)
                    .hasMessageContaining("number " + unknown)
                    .hasMessageContaining("(it has 3 and 5)")
                    .hasMessageContaining("rebase");
        }
        assertThatThrownBy(() -> resolve(CONFIRMED, 6L))
                .isInstanceOf(RelayException.class)
                .hasMessageContaining("(it has 5)");
    }

    @Test
    void noNumberAtAllIsRefusedTooWhereThereWasOne() {
        assertThatThrownBy(() -> resolve(CONFIRMED, null))
                .isInstanceOf(RelayException.class)
                .hasMessageContaining("no committed offset");
    }

    private static LastTransaction resolve(Prepared row, Long kafka) {
        return LastTransaction.of("relay", row, kafka);
    }
}
