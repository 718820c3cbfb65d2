package dev.twinbox.relay.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.engine.Progress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class HealthTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final AtomicLong clock = new AtomicLong();
    private final Progress progress = new Progress(clock::get);
    private final Health health = new Health(progress, TIMEOUT);

    @Test
    void is_not_ready_before_the_first_successful_poll() {
        assertDown("no successful poll yet");
        assertThat(health.live().status()).isEqualTo(Health.Status.UP);
    }

    @Test
    void is_ready_when_the_lease_is_held_and_the_outbox_was_read() {
        relaying();

        assertUp();
    }

    @Test
    void is_ready_as_a_standby_as_long_as_it_looks_at_the_lease() {
        progress.recordLeaseElsewhere("somebody");
        assertUp();
        assertThat(health.ready().json().toString()).contains("standby", "somebody");

        pass(TIMEOUT.plusSeconds(1));
        assertDown("the last successful poll is 11 s ago");
    }

    @Test
    void is_ready_as_a_standby_whatever_kafka_did_while_it_was_the_owner() {
        relaying();
        progress.recordBrokerFailure("no answer within 5 s");
        assertDown("no answer within 5 s");

        progress.recordLeaseElsewhere("somebody");

        assertUp();
    }

    @Test
    void is_down_without_a_lease() {
        relaying();
        progress.recordLeaseGone();

        assertDown("the lease is not held");
    }

    @Test
    void is_down_when_polls_stop() {
        relaying();
        pass(TIMEOUT.plusSeconds(1));

        assertDown("the last successful poll is 11 s ago");
    }

    @Test
    void is_down_with_the_cause_while_the_database_fails_and_up_after_the_next_poll() {
        relaying();
        progress.recordDatabaseFailure("connection refused");
        assertDown("connection refused");

        progress.recordPoll(0);
        assertUp();
    }

    @Test
    void is_down_with_the_cause_while_kafka_fails_and_up_after_the_next_acknowledgement() {
        relaying();
        progress.recordPoll(1);
        progress.recordBrokerFailure("no brokers");
        assertDown("no brokers");

        progress.recordAcknowledged(1, 1);
        assertUp();
    }

    @Test
    void is_down_when_events_are_in_flight_and_nothing_moves() {
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
    void is_neither_live_nor_ready_when_the_loop_has_ended() {
        relaying();
        progress.recordEnd("an unexpected error");

        assertDown("an unexpected error");
        assertThat(health.live().status()).isEqualTo(Health.Status.DOWN);
    }

    @Test
    void causes_do_not_show_passwords() {
        progress.recordDatabaseFailure("jdbc:postgresql://h/d?sslpassword=s3cret refused");

        assertThat(health.ready().json().toString()).doesNotContain("s3cret").contains("refused");
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
