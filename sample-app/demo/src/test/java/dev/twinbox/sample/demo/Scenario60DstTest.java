package dev.twinbox.sample.demo;

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
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * DST: there are no schedules by a clock on the wall, so a change of zone or clock moves none. Every wait of ours is one of the monotonic clock or of the
 * database's; this holds for all code that runs in relay and applications.
 */
class Scenario60DstTest {

    private static final Path ROOT = Path.of(System.getProperty("twinbox.demo.root"));
    private static final List<String> MODULES =
            List.of("framework-core", "outbox-relay", "inbox-receiver", "inbox-receiver/cli");

    private static final JavaClasses MAIN = new ClassFileImporter()
            .importPaths(MODULES.stream()
                    .map(module -> ROOT.resolve(module).resolve("target/classes"))
                    .toList());

    /** Its days are 23 or 25 hours long now and then, in a session whose zone has summer time. */
    private static final Pattern CALENDAR_INTERVAL =
            Pattern.compile("interval\\s+'[^']*(day|week|month|year)|make_interval\\((days|weeks|months|years)");

    @Test
    void nobody_has_a_calendar_a_zone_or_a_timer() {
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
    void the_clock_of_the_process_stamps_events_and_nothing_else() {
        noClasses()
                .that(not(nameMatching("dev\\.twinbox\\.outbox\\.TransactionOutbox")))
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
    void no_statement_counts_in_days_of_the_session_s_zone() {
        assertThat(MODULES.stream().flatMap(Scenario60DstTest::sources).filter(Scenario60DstTest::countsDays))
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
