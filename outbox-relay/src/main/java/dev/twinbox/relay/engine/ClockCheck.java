package dev.twinbox.relay.engine;

import dev.twinbox.relay.kafka.Refusal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Kafka refuses records whose timestamp is too far from its own clock. The producer takes it from this process's clock.
 * If that clock differs from the database's, no record and no topic is to blame. Then nothing is parked, and the relay
 * waits until the clock is right. This is the only place that reads the process's clock. Only for the main thread.
 */
final class ClockCheck {
    private static final Logger LOG = LoggerFactory.getLogger(ClockCheck.class);

    /** Kafka's default limit is an hour. A smaller difference concerns only topics with a strict limit of their own. */
    private static final Duration TOLERANCE = Duration.ofMinutes(1);

    /** The database's clock may be the wrong one, or a limit was raised. So the relay tries again from time to time. */
    private static final Duration NEXT_TRY = Duration.ofSeconds(30);

    private static final String NOW = """
            -- relay: the database's clock
            select (extract(epoch from clock_timestamp()) * 1000)::bigint
            """;

    private boolean suspect;
    private long refusedAt;
    private boolean reported;

    /**
     * The failures that concern a record or its topic. A refused timestamp does not, if the clock of this process is
     * wrong or cannot be compared.
     */
    List<SendFailedException> ofRecords(List<SendFailedException> refused, Connection connection) {
        if (refused.stream().noneMatch(each -> Refusal.isTimestamp(each.reason())) || isRight(connection)) {
            return refused;
        }
        suspect = true;
        reported = false;
        refusedAt = System.nanoTime();
        return refused.stream()
                .filter(each -> !Refusal.isTimestamp(each.reason()))
                .toList();
    }

    private static boolean isRight(Connection connection) {
        try {
            return !isTooMuch(difference(connection));
        } catch (SQLException e) {
            LOG.debug("Could not compare the clocks", e);
            return false;
        }
    }

    /** Whether nothing must be sent for now. Tells the operator why, through the log and health. */
    boolean mustWait(Connection connection, Progress progress) throws SQLException {
        if (!suspect) {
            return false;
        }
        Duration difference = difference(connection);
        if (!isTooMuch(difference)) {
            LOG.info("The clock of this host agrees with the database's again: sending");
            progress.recordClock(null);
            suspect = false;
        } else if (System.nanoTime() - refusedAt > NEXT_TRY.toNanos()) {
            suspect = false; // Until Kafka refuses again. Health reports it until Kafka accepts something.
        } else {
            report(describe(difference), progress);
        }
        return suspect;
    }

    private void report(String cause, Progress progress) {
        if (!reported) {
            LOG.warn("Not sending: {}", cause);
            reported = true;
        }
        progress.recordClock(cause);
    }

    private static String describe(Duration difference) {
        return "the clock of this host is " + difference.abs().truncatedTo(ChronoUnit.SECONDS)
                + (difference.isNegative() ? " behind" : " ahead of")
                + " the database's, and Kafka refuses the relay's timestamps: correct the clock, for example by NTP. "
                + "Nothing is parked, and the relay continues by itself";
    }

    private static boolean isTooMuch(Duration difference) {
        return difference.abs().compareTo(TOLERANCE) > 0;
    }

    /** Positive if this process's clock is ahead. */
    private static Duration difference(Connection connection) throws SQLException {
        long before = System.currentTimeMillis();
        try (PreparedStatement statement = connection.prepareStatement(NOW);
                ResultSet row = statement.executeQuery()) {
            row.next();
            long own = (before + System.currentTimeMillis()) / 2;
            return Duration.ofMillis(own - row.getLong(1));
        }
    }
}
