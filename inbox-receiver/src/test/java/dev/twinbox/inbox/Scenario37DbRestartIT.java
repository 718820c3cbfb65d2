package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Scenario 37, DB-RESTART, the receiver's side: the database restarts. Nothing is lost and no event is parked for it.
 */
class Scenario37DbRestartIT {

    private static final int RESTARTS = 2;

    private final Database database = MainApp.database();
    private final Topics topics = MainApp.topics();

    @Test
    void afterEveryRestartItGoesOnByItself() {
        // An application that was deployed a moment ago would still look up where its partitions start.
        topics.sendMany("ejb", 0, 1);
        topics.sendMany("ejb", 1, 1);
        MainApp.awaitLagZero(MainApp.GROUP, "ejb");
        MainApp.awaitNoTrouble("main");
        long effects = database.count("effect where handler = 'Ejb.onOrder'");
        int from = Servers.payara().log().length();
        for (int restart = 0; restart < RESTARTS; restart++) {
            topics.sendMany("ejb", 0, 80);
            topics.sendMany("ejb", 1, 80);
            Servers.postgres().kill();
            topics.sendMany("ejb", 0, 40);
            await().atMost(MainApp.LIMIT)
                    .untilAsserted(() ->
                            assertThat(Servers.payara().get("/main/status")).contains("trouble database="));
            assertThat(Servers.payara().status("/health/ready")).isEqualTo(503);
            Servers.postgres().start();
            MainApp.awaitLagZero(MainApp.GROUP, "ejb");
            MainApp.awaitNoTrouble("main");
        }

        assertThat(database.count("effect where handler = 'Ejb.onOrder'") - effects)
                .isEqualTo(RESTARTS * 200L);
        assertThat(database.count("(select event_id from effect where handler = 'Ejb.onOrder' "
                        + "group by event_id having count(*) > 1) d"))
                .isZero();
        Stream<String> receiver =
                Servers.payara().log().substring(from).lines().filter(l -> l.contains("dev.twinbox.inbox"));
        assertThat(receiver).noneMatch(line -> line.contains("SEVERE"));
    }
}
