package dev.twinbox.relay.log;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.spi.FilterReply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class OutageFilterTest {
    private static final String OURS = "dev.twinbox.relay.Sender";
    private static final String KAFKA = "org.apache.kafka.clients.NetworkClient";

    private final AtomicLong clock = new AtomicLong();
    private final OutageFilter filter = new OutageFilter(clock::get);
    private final LogLine layout = new LogLine();
    private final List<String> written = new ArrayList<>();

    @Test
    void warningsOfAllSourcesShareOneLinePerSecondAndOursComeFirst() {
        for (int tenth = 0; tenth < 600; tenth++) {
            log(KAFKA, Level.WARN, "Connection could not be established");
            log("org.postgresql.Driver", Level.ERROR, "Connection refused");
            log(OURS, Level.WARN, "Waiting to send");
            pass(Duration.ofMillis(100));
        }

        assertThat(written).hasSizeBetween(60, 61);
        assertThat(written).filteredOn(line -> line.contains("Waiting to send")).hasSizeGreaterThan(50);
        assertThat(written).filteredOn(line -> line.contains("Connection")).hasSizeBetween(5, 7);
    }

    @Test
    void theNextLineTellsHowManyWereHeldBack() {
        log(OURS, Level.WARN, "first");
        log(OURS, Level.WARN, "second");
        log(KAFKA, Level.WARN, "third");
        pass(Duration.ofSeconds(1));
        log(OURS, Level.WARN, "fourth");
        pass(Duration.ofSeconds(1));
        log(OURS, Level.WARN, "fifth");

        assertThat(written).hasSize(3);
        assertThat(written.get(1)).contains("fourth (2 lines like this held back)");
        assertThat(written.get(2)).contains("fifth").doesNotContain("held back");
    }

    @Test
    void whatTheClientSaidFirstDoesNotHideWhatTheRelaySaysOnce() {
        log(KAFKA, Level.WARN, "got error PRODUCER_FENCED");
        log(OURS, Level.WARN, "going back to the saved position");
        log(OURS, Level.WARN, "again");
        pass(Duration.ofSeconds(1));
        log(OURS, Level.WARN, "again");
        assertThat(written).hasSize(2).last().asString().contains("going back");
        pass(Duration.ofSeconds(1));
        log(OURS, Level.WARN, "after the second that was taken in advance");

        assertThat(written).hasSize(3);
    }

    @Test
    void manyLinesThatAlwaysPassCostTheOthersTwoSecondsAtMost() {
        for (int i = 0; i < 20; i++) {
            log(OURS, Level.INFO, "starting");
        }
        pass(Duration.ofSeconds(2));
        log(OURS, Level.WARN, "failed");

        assertThat(written).hasSize(21);
    }

    @Test
    void startStopRecoveryAndWhatAnOperatorMustMendIsNeverHeldBack() {
        log(OURS, Level.WARN, "failed");
        log(OURS, Level.INFO, "Took the lease");
        log(OURS, Level.ERROR, "refused for good");

        assertThat(written).hasSize(3);
    }

    @Test
    void aLineThatAlwaysPassesTakesTheSecondOfTheOthers() {
        log(OURS, Level.INFO, "Took the lease");
        log(OURS, Level.WARN, "failed");

        assertThat(written).hasSize(1);
    }

    @Test
    void anExceptionOfALibraryStaysOnItsLineAndPasswordsStayOut() {
        LoggingEvent event = event(KAFKA, Level.WARN, "multi\nline");
        event.setThrowableProxy(new ch.qos.logback.classic.spi.ThrowableProxy(
                new IllegalStateException("jdbc:postgresql://h/d?password=s3cret\nmore")));

        assertThat(layout.doLayout(event).strip())
                .hasLineCount(1)
                .contains("multi | line: java.lang.IllegalStateException: jdbc:postgresql://h/d?password=")
                .doesNotContain("s3cret");
    }

    private void log(String logger, Level level, String message) {
        LoggingEvent event = event(logger, level, message);
        if (filter.decide(event) != FilterReply.DENY) {
            written.add(layout.doLayout(event));
        }
    }

    private static LoggingEvent event(String logger, Level level, String message) {
        return new LoggingEvent("caller", new LoggerContext().getLogger(logger), level, message, null, null);
    }

    private void pass(Duration time) {
        clock.addAndGet(time.toNanos());
    }
}
