package dev.twinbox.proof.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class GrantsTest {

    private final Grants grants = Grants.of(Path.of(System.getProperty("twinbox.root"), "docs/how-to/security.md"));

    @Test
    void eachRoleHasTheGrantsOfThePage() {
        assertThat(grants.outbox())
                .contains(
                        "grant insert on outbox_event to soak_orders",
                        "grant select on outbox_event to soak_relay",
                        "grant usage on sequence outbox_event_seq to soak_relay");
        assertThat(grants.inbox())
                .contains("grant select, insert, delete on inbox_event to soak_shipping")
                .allSatisfy(grant -> assertThat(grant).endsWith(" to soak_shipping"));
    }

    @Test
    void thoseOnATableAreAllThatTheRoleHasOnIt() {
        assertThat(grants.of("outbox_event", Roles.RELAY))
                .containsExactly(
                        "grant select on outbox_event to soak_relay", "grant insert on outbox_event to soak_relay");
        assertThat(grants.of("inbox_event", Roles.SHIPPING)).hasSize(1);
    }
}
