package dev.twinbox.proof.rules;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * DST: no schedule depends on the wall clock, so a change of clock or time zone has no effect. All waits use the
 * monotonic clock or the database's clock. This holds for all code of relay and applications.
 */
class Scenario60DstTest {

    private static final Path ROOT = Path.of(System.getProperty("twinbox.root"));

    private static final JavaClasses MAIN = new ClassFileImporter()
            .importPaths(ReleasedModules.FOLDERS.stream()
                    .map(module -> ROOT.resolve(module).resolve("target/classes"))
                    .toList());

    /** In a session whose zone has summer time, a day may have 23 or 25 hours. */
    private static final Pattern CALENDAR_INTERVAL =
            Pattern.compile("interval\\s+'[^']*(day|week|month|year)|make_interval\\((days|weeks|months|years)");

    @Test
    void nobodyHasACalendarAZoneOrATimer() {
        noClasses()
                .should()
                .dependOnClassesThat(nameMatching("java\\.util\\.(Timer|TimerTask|Calendar|Date|TimeZone)"
                        + "|java\\.time\\.(ZonedDateTime|LocalDate|LocalTime|YearMonth|Period)"
                        + "|java\\.util\\.concurrent\\.ScheduledExecutorService"
                        + "|jakarta\\.ejb\\.(Schedule|Schedules|Timer|TimerService|TimerConfig|Timeout)"
                        + "|jakarta\\.enterprise\\.concurrent\\.ManagedScheduledExecutorService"))
                .because("it would have to know what to do when the clock is put forward or back")
                .check(MAIN);
        noClasses().should().callMethod(java.time.ZoneId.class, "systemDefault").check(MAIN);
    }

    @Test
    void theClockOfTheProcessStampsEventsAndIsCompared() {
        noClasses()
                .that(not(nameMatching("dev\\.twinbox\\.(outbox\\.TransactionOutbox|relay\\.engine\\.ClockCheck)")))
                .should()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(java.time.Instant.class, "now")
                .orShould()
                .callMethod(java.time.InstantSource.class, "system")
                .orShould()
                .callMethod(java.time.Clock.class, "systemUTC")
                .orShould()
                .callMethod(java.time.Clock.class, "systemDefaultZone")
                .because("an hour's jump of it must neither skip nor repeat anything")
                .check(MAIN);
    }

    @Test
    void noStatementCountsInDaysOfTheSessionSZone() {
        assertThat(ReleasedModules.FOLDERS.stream()
                        .flatMap(Scenario60DstTest::sources)
                        .filter(Scenario60DstTest::countsDays))
                .isEmpty();
    }

    private static Stream<Path> sources(String module) {
        try {
            return Files.walk(ROOT.resolve(module).resolve("src/main")).filter(Files::isRegularFile);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean countsDays(Path source) {
        try {
            return CALENDAR_INTERVAL.matcher(Files.readString(source)).find();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
