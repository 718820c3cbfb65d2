package dev.twinbox.relay.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SnapshotTest {

    @Test
    void itKnowsWhereTheNewBeginsAndWhatWasInProgress() {
        Snapshot snapshot = Snapshot.parse("740:760:740,753");
        assertThat(snapshot.xmax()).isEqualTo("760");
        assertThat(snapshot.inProgress()).isEqualTo("{740,753}");
        assertThat(snapshot).hasToString("740:760:740,753");
    }

    @Test
    void withNothingInProgressTheArrayIsEmpty() {
        assertThat(Snapshot.parse("754:754:").inProgress()).isEqualTo("{}");
    }

    @Test
    void aColumnThatIsNullIsNone() {
        assertThat(Snapshot.parseNullable(null)).isNull();
        assertThat(Snapshot.parseNullable("3:3:")).isEqualTo(Snapshot.parse("3:3:"));
    }

    @Test
    void onlyTheSnapshotBeforeEverythingIsEmpty() {
        assertThat(Snapshot.EMPTY.isEmpty()).isTrue();
        assertThat(Snapshot.parse("3:3:").isEmpty()).isFalse();
    }

    @Property
    void whatPostgresqlWritesIsTakenAsItIs(
            @ForAll @LongRange(min = 1, max = 1L << 60) long xmin,
            @ForAll @Size(max = 20) Set<@LongRange(min = 0, max = 1L << 40) Long> above) {
        TreeSet<Long> ids =
                above.stream().map(distance -> xmin + distance).collect(Collectors.toCollection(TreeSet::new));
        long xmax = ids.isEmpty() ? xmin : ids.last() + 1;
        String list = ids.stream().map(String::valueOf).collect(Collectors.joining(","));
        Snapshot snapshot = Snapshot.parse(xmin + ":" + xmax + ":" + list);
        assertThat(snapshot.xmax()).isEqualTo(Long.toString(xmax));
        assertThat(snapshot.inProgress()).isEqualTo("{" + list + "}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "1",
                "1:2",
                "1:2:3:4",
                "a:2:",
                "2:1:",
                "0:1:",
                "1:5:5",
                "3:5:2",
                "1:5:2,",
                "1:5:,2",
                "1: 5:",
                "-1:5:",
                "1:99999999999999999999:"
            })
    void whatIsNoSnapshotIsRefusedByItsText(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> Snapshot.parse(text));
    }
}
