package dev.twinbox.proof.soak;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.proof.soak.Fault.Kind;
import dev.twinbox.proof.soak.Fault.Target;
import dev.twinbox.proof.soak.FaultSchedule.Lane;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FaultScheduleTest {

    private static final Duration HOUR = Duration.ofHours(1);

    @Test
    void theSameSeedGivesTheSameList() {
        assertThat(FaultSchedule.of(42, HOUR)).isEqualTo(FaultSchedule.of(42, HOUR));
    }

    /** A seed repeats an old run only if this list does not change. */
    @Test
    void theListOfASeedStaysWhatItIs() {
        assertThat(FaultSchedule.of(42, HOUR).stream().limit(3).map(Fault::toString))
                .containsExactly(
                        "Fault[number=1, at=PT7.149S, kind=BLACK_HOLE, target=RELAY_2_TO_KAFKA, length=PT4.227S]",
                        "Fault[number=2, at=PT7.471S, kind=PAUSE, target=BROKER_2, length=PT4.7S]",
                        "Fault[number=3, at=PT11.669S, kind=KILL, target=PRODUCER, length=PT1.21S]");
        assertThat(FaultSchedule.of(42, HOUR)).hasSize(887);
    }

    /** What a lane draws depends on the lanes before it alone. */
    @Test
    void theFirstSevenLanesHaveTheFaultsThatTheyHadAlone() {
        List<Fault> first = FaultSchedule.of(42, HOUR).stream()
                .filter(fault -> Arrays.stream(Lane.values()).limit(7).anyMatch(lane -> lane.owns(fault.target())))
                .toList();

        assertThat(first).hasSize(680);
        assertThat(first.get(0).at()).isEqualTo(Duration.ofMillis(7_149));
        assertThat(first.get(1).target()).isEqualTo(Target.BROKER_2);
        assertThat(first.get(2).kind()).isEqualTo(Kind.KILL);
    }

    @Test
    void anotherSeedGivesAnotherList() {
        assertThat(FaultSchedule.of(42, HOUR)).isNotEqualTo(FaultSchedule.of(43, HOUR));
    }

    @Test
    void anHourHasEveryKindAndEveryTarget() {
        List<Fault> faults = FaultSchedule.of(42, HOUR);

        assertThat(faults).extracting(Fault::kind).contains(Kind.values());
        assertThat(faults).extracting(Fault::target).contains(Target.values());
    }

    @Test
    void faultsAreNumberedInTheOrderOfTheirTimesAndBeginWithinTheRun() {
        List<Fault> faults = FaultSchedule.of(42, HOUR);

        assertThat(faults).isSortedAccordingTo((a, b) -> a.at().compareTo(b.at()));
        assertThat(faults.get(0).number()).isEqualTo(1);
        assertThat(faults.get(faults.size() - 1).number()).isEqualTo(faults.size());
        assertThat(faults).allSatisfy(fault -> assertThat(fault.at()).isLessThan(HOUR));
    }

    @ParameterizedTest
    @EnumSource(Lane.class)
    void whatFailsOneAfterTheOtherIsNeverAwayTwiceAtATime(Lane lane) {
        List<Fault> own = FaultSchedule.of(42, HOUR).stream()
                .filter(fault -> lane.owns(fault.target()))
                .toList();

        assertThat(own).hasSizeGreaterThan(1);
        for (int i = 1; i < own.size(); i++) {
            Fault before = own.get(i - 1);
            assertThat(own.get(i).at()).isGreaterThan(before.at().plus(before.length()));
        }
    }

    @Test
    void everyTargetBelongsToOneLane() {
        assertThat(Target.values())
                .allSatisfy(target -> assertThat(Arrays.stream(Lane.values()).filter(lane -> lane.owns(target)))
                        .hasSize(1));
    }
}
