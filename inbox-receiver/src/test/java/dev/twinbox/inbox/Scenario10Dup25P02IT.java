package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Scenario 10, DUP-25P02: a duplicate is a row count, not an exception. */
class Scenario10Dup25P02IT {

    private final Database database = MainApp.database();
    private final Topics topics = MainApp.topics();

    @Test
    void theHandlerRunsForTheOthersOnlyAndThePartitionGoesOn() {
        String a = Topics.id();
        String x = Topics.id();
        String b = Topics.id();
        String c = Topics.id();
        database.execute("insert into inbox_event (consumer_group, handler, event_id) values ('main', 'Ejb.onOrder', '"
                + x + "')");
        long duplicates = MainApp.status("main", "duplicates");
        int log = Servers.payara().log().length();

        topics.sendTogether("ejb", a, x, b, x, c);
        MainApp.awaitLagZero(MainApp.GROUP, "ejb");

        assertThat(database.effects("Ejb.onOrder")).containsSubsequence(a, b, c).doesNotContain(x);
        assertThat(database.calls("Ejb.onOrder", x)).isZero();
        assertThat(MainApp.status("main", "duplicates") - duplicates).isEqualTo(2);
        assertThat(Servers.payara().log().substring(log)).doesNotContain("25P02", "23505", "SEVERE", x);
    }

    @Test
    void anEventThatIsTwiceInOneBatchIsHandledOnce() {
        String once = Topics.id();

        topics.sendTogether("ejb", once, once, once);
        MainApp.awaitLagZero(MainApp.GROUP, "ejb");

        assertThat(database.effects("Ejb.onOrder")).containsOnlyOnce(once);
        assertThat(database.calls("Ejb.onOrder", once)).isEqualTo(1);
    }
}
