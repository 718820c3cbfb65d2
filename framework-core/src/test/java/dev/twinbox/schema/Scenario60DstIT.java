package dev.twinbox.schema;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.SharedServers;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * DST, in the database: over both changes of the clock, slots follow each other every hour of real time and waits keep
 * their length, in a session of any zone. The sample's test of the same name shows that nothing else uses a clock on
 * the wall.
 */
class Scenario60DstIT {

    private static final Duration STEP = Duration.ofMinutes(20);

    @ParameterizedTest
    @CsvSource({
        "Europe/Berlin, 2026-03-29T01:00:00Z",
        "Europe/Berlin, 2026-10-25T01:00:00Z",
        "America/New_York, 2026-03-08T07:00:00Z",
        "America/New_York, 2026-11-01T06:00:00Z"
    })
    void slotsAndWaitsAreAsLongAsOnAnyOtherDay(String zone, Instant change) throws Exception {
        String expression = new Retention(Duration.ofHours(1)).expression().replace("now()", "t.at");
        assertThat(expression).contains("t.at");
        String sql = "select " + expression + ", extract(epoch from t.at + make_interval(secs => 86400) - t.at)"
                + " from (select ?::timestamptz as at) t";
        List<Integer> slots = new ArrayList<>();
        List<Integer> expected = new ArrayList<>();
        try (Connection connection = SharedServers.postgres().connect("postgres");
                Statement statement = connection.createStatement()) {
            statement.execute("set timezone = '" + zone + "'");
            try (PreparedStatement select = connection.prepareStatement(sql)) {
                for (Instant at = change.minus(Duration.ofHours(6));
                        at.isBefore(change.plus(Duration.ofHours(6)));
                        at = at.plus(STEP)) {
                    select.setString(1, at.toString());
                    try (ResultSet row = select.executeQuery()) {
                        row.next();
                        slots.add(row.getInt(1));
                        assertThat(row.getLong(2)).isEqualTo(86400);
                    }
                    expected.add((int) (at.getEpochSecond() / 3600 % 3));
                }
            }
        }
        assertThat(slots).isEqualTo(expected);
    }
}
