package dev.twinbox.relay.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.engine.Progress;
import dev.twinbox.thread.StopRequest;
import dev.twinbox.thread.Supervisor;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class HealthTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final AtomicLong clock = new AtomicLong();
    private final Progress progress = new Progress(clock::get);
    private final Health health = new Health(progress, TIMEOUT);

    @Test
    void isNotReadyBeforeTheFirstSuccessfulPoll() {
        assertDown("no successful poll yet");
        assertThat(health.live().status()).isEqualTo(Health.Status.UP);
    }

    @Test
    void isReadyWhenTheLeaseIsHeldAndTheOutboxWasRead() {
        relaying();

        assertUp();
    }

    @Test
    void isReadyAsAStandbyAsLongAsItLooksAtTheLease() {
        progress.recordLeaseElsewhere("somebody");
        assertUp();
        assertThat(health.ready().json().toString()).contains("standby", "somebody");

        pass(TIMEOUT.plusSeconds(1));
        assertDown("the last successful poll is 11 s ago");
    }

    @Test
    void isReadyAsAStandbyWhateverKafkaDidWhileItWasTheOwner() {
        relaying();
        progress.recordBrokerFailure("no answer within 5 s");
        assertDown("no answer within 5 s");

        progress.recordLeaseElsewhere("somebody");

        assertUp();
    }

    @Test
    void isDownWithoutALease() {
        relaying();
        progress.recordLeaseGone();

        assertDown("the lease is not held");
    }

    @Test
    void isDownWhenPollsStop() {
        relaying();
        pass(TIMEOUT.plusSeconds(1));

        assertDown("the last successful poll is 11 s ago");
    }

    @Test
    void isDownWithTheCauseWhileTheDatabaseFailsAndUpAfterTheNextPoll() {
        relaying();
        progress.recordDatabaseFailure("connection refused");
        assertDown("connection refused");

        progress.recordPoll(0);
        assertUp();
    }

    @Test
    void isDownWithTheCauseWhileKafkaFailsAndUpAfterTheNextAcknowledgement() {
        relaying();
        progress.recordPoll(1);
        progress.recordBrokerFailure("no brokers");
        assertDown("no brokers");

        progress.recordAcknowledged(1, 1);
        assertUp();
    }

    @Test
    void isDownWhenEventsAreInFlightAndNothingMoves() {
        relaying();
        pass(TIMEOUT.multipliedBy(2));
        progress.recordPoll(5);
        assertUp();

        pass(TIMEOUT.plusSeconds(1));
        progress.recordPoll(0);
        assertDown("none of the events in flight was acknowledged");

        progress.recordAcknowledged(2, 10);
        assertUp();
    }

    @Test
    void isNeitherLiveNorReadyWhenTheLoopHasEnded() {
        relaying();
        progress.recordEnd("an unexpected error");

        assertDown("an unexpected error");
        assertThat(health.live().status()).isEqualTo(Health.Status.DOWN);
    }

    @Test
    void causesDoNotShowPasswords() {
        progress.recordDatabaseFailure("jdbc:postgresql://h/d?sslpassword=s3cret refused");

        assertThat(health.ready().json().toString()).doesNotContain("s3cret").contains("refused");
    }

    @Test
    void isDownWhileAThreadThatEndedByItselfIsStartedAgain() {
        relaying();
        StopRequest stop = new StopRequest();
        Supervisor supervisor = new Supervisor(Supervisor.DAEMONS, progress.loopEnds(), stop);

        supervisor.start("relay-reader", () -> {}, cause -> stop.ask());

        assertThat(supervisor.join(Duration.ofSeconds(20))).isEmpty();
        assertDown("thread relay-reader has ended without being asked, 1 times in a row");
        assertThat(health.live().status()).isEqualTo(Health.Status.UP);
    }

    private void relaying() {
        progress.recordLeaseHeld(1);
        progress.recordPoll(0);
    }

    private void pass(Duration time) {
        clock.addAndGet(time.toNanos());
    }

    private void assertUp() {
        assertThat(health.ready().status()).as(health.ready().json().toString()).isEqualTo(Health.Status.UP);
    }

    private void assertDown(String cause) {
        assertThat(health.ready().status()).isEqualTo(Health.Status.DOWN);
        assertThat(health.ready().json().toString()).contains(cause).startsWith("{\"status\":\"DOWN\",\"checks\":[");
    }
}
