package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.Slice;
import dev.twinbox.relay.jdbc.Slice.Cut;
import dev.twinbox.relay.jdbc.Snapshot;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The arithmetic of positions, step by step. {@link InterleavingsTest} searches it as a whole. */
class WindowTest {
    private static final Snapshot ONE = Snapshot.parse("10:10:");
    private static final Snapshot TWO = Snapshot.parse("15:20:15");
    private static final Snapshot THREE = Snapshot.parse("30:30:");

    @Test
    void aWindowThatIsReadToItsEndAtOnceIsDone() {
        assertThat(Window.after(Position.closed(ONE), slice(TWO, Cut.NOTHING_LEFT, 3, 4)))
                .isEqualTo(Position.closed(TWO));
    }

    @Test
    void anEmptyWindowIsDoneToo() {
        assertThat(Window.after(Position.START, slice(ONE, Cut.NOTHING_LEFT))).isEqualTo(Position.closed(ONE));
    }

    @Test
    void aWindowThatIsCutStaysOpenWithTheSnapshotInWhichItWasOpened() {
        assertThat(Window.after(Position.closed(ONE), slice(TWO, Cut.MORE_TO_COME, 3, 7)))
                .isEqualTo(Position.open(ONE, TWO, 7));
    }

    @Test
    void theNextPageOfAnOpenWindowMovesTheNumberAndNothingElse() {
        assertThat(Window.after(Position.open(ONE, TWO, 7), slice(THREE, Cut.MORE_TO_COME, 9)))
                .isEqualTo(Position.open(ONE, TWO, 9));
        assertThat(Window.after(Position.open(ONE, TWO, 7), slice(null, Cut.MORE_TO_COME, 8, 12)))
                .isEqualTo(Position.open(ONE, TWO, 12));
    }

    /** What became visible after it was opened belongs to the next one. */
    @Test
    void theLastPageOfAnOpenWindowEndsWhereItWasOpened() {
        assertThat(Window.after(Position.open(ONE, TWO, 7), slice(THREE, Cut.NOTHING_LEFT, 9)))
                .isEqualTo(Position.closed(TWO));
    }

    @Test
    void aWindowIsNotOpenedWithoutASnapshot() {
        assertThatThrownBy(() -> Window.after(Position.START, slice(null, Cut.NOTHING_LEFT)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("without its snapshot");
    }

    @Test
    void aNumberGoesWithAnOpenWindowOnly() {
        assertThatThrownBy(() -> new Position(ONE, null, 7))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("here 7");
        assertThat(new Position(ONE, TWO, 0).seq()).isZero();
    }

    @Test
    void aPositionIsReadByPeople() {
        assertThat(Position.START).hasToString("from 1:1:");
        assertThat(Position.open(ONE, TWO, 7)).hasToString("from 10:10: to 15:20:15 at 7");
    }

    private static Slice slice(@Nullable Snapshot snapshot, Cut cut, long... seqs) {
        List<OutboxRecord> records = LongStream.of(seqs)
                .mapToObj(seq -> new OutboxRecord(seq, new ProducerRecord<>("t", null)))
                .toList();
        return new Slice(records, snapshot, cut, 0);
    }
}
