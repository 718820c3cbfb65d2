package dev.twinbox.relay.engine;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.kafka.Refusal;
import java.sql.SQLException;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports why a session has ended, and what the relay does next. Only for the main thread. */
final class FailureReport {
    private static final Logger LOG = LoggerFactory.getLogger(FailureReport.class);

    private final RelayConfig config;
    private final Progress progress;

    FailureReport(RelayConfig config, Progress progress) {
        this.config = config;
        this.progress = progress;
    }

    /** Whether the next session can begin at once: it parks what this one could not send, or stands by. */
    static boolean isSettledByNextSession(Throwable cause) {
        return cause instanceof LeaseLostException
                || cause instanceof StalledException
                || cause instanceof TopicCreatedAnewException
                || isRefusal(cause);
    }

    private static boolean isRefusal(Throwable cause) {
        return cause instanceof SendFailedException sent && Refusal.isForGood(sent.reason());
    }

    /** @throws RelayException if the server refused for good; returns if the fault may pass */
    void throwIfRefused(SQLException failure) {
        ExitCode exitCode = OutboxDatabase.exitCode(failure);
        if (exitCode != null) {
            throw new RelayException(exitCode, refusal(exitCode, failure), failure);
        }
    }

    private String refusal(ExitCode exitCode, SQLException failure) {
        if (OutboxDatabase.remedy(failure) != null) {
            return "PostgreSQL at " + config.database().url() + " refused: " + OutboxDatabase.explain(failure);
        }
        String remedy = exitCode == ExitCode.SCHEMA
                ? ". Create the tables with \"migrate\", or grant the relay's role the missing privileges: select on "
                        + config.tables().events() + ", select and insert on "
                        + config.tables().position() + ", select, insert and update on "
                        + config.tables().lease() + ", select, insert, update and delete on "
                        + config.tables().parked()
                : ". Check twinbox.relay.database.url, user and password";
        return "PostgreSQL at " + config.database().url() + " refused: " + failure.getMessage() + remedy;
    }

    /** Writes it into the log and into what health shows. */
    void report(Throwable cause) {
        String what = String.valueOf(cause.getMessage());
        if (cause instanceof LeaseLostException) {
            LOG.info("Lost the lease of relay \"{}\": {}. Standing by.", config.name(), what);
        } else if (cause instanceof SQLException sql) {
            String why = OutboxDatabase.explain(sql);
            progress.recordDatabaseFailure(why);
            LOG.warn("The database failed, trying again: {}", why);
        } else if (cause instanceof StalledException || isRefusal(cause)) {
            LOG.warn("Going back to the saved position to park what could not be sent: {}", what);
        } else if (cause instanceof TopicCreatedAnewException) {
            LOG.warn("Going back to the saved position: {}", what);
        } else if (cause instanceof SendFailedException || cause instanceof KafkaException) {
            progress.recordBrokerFailure(what);
            LOG.warn("Kafka failed, going back to the saved position: {}", what);
        } else {
            progress.recordDatabaseFailure(cause.toString());
            LOG.error("Unexpected error, going back to the saved position; report it", cause);
        }
    }
}
