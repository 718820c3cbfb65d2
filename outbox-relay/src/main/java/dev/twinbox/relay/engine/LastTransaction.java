package dev.twinbox.relay.engine;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a relay's last Kafka transaction. Its newest row in the database and the number committed in Kafka
 * decide it. The row was written before the transaction could end, so one of the row's two positions is the true one.
 *
 * @param position events up to here are published or parked
 */
record LastTransaction(Outcome outcome, Position position) {
    enum Outcome {
        /**
         * Nothing has been published exactly once from the row's position on. Kafka's number means nothing, and is set.
         */
        FIRST,
        COMMITTED,
        NOT_COMMITTED,
        /** No transaction was open: what is parked counts. */
        CONFIRMED
    }

    /** The remedy for an answer of Kafka that does not fit the database. */
    private static final String REMEDY =
            " If it cannot be restored, \"twinbox-relay rebase --from-position\" makes the "
                    + "relay continue from the position in the database; "
                    + "events that Kafka has beyond it are published twice then";

    /**
     * @param relay named in the message
     * @param kafka the committed number; null: Kafka has none
     * @throws RelayException if the two do not fit together
     */
    static LastTransaction of(String relay, PositionTable.Prepared row, @Nullable Long kafka) {
        Long committed = row.committed();
        if (committed == null) {
            return new LastTransaction(Outcome.FIRST, row.position());
        }
        if (kafka == null) {
            throw new RelayException(
                    ExitCode.DELIVERY,
                    "relay \"" + relay + "\" has published exactly once up to number " + committed
                            + ", but Kafka has no committed offset of it: it was deleted, or has expired because the "
                            + "relay did not run for longer than offsets.retention.minutes, or this is another Kafka "
                            + "cluster."
                            + REMEDY);
        }
        if (row.next() != null && kafka == row.number()) {
            return new LastTransaction(Outcome.COMMITTED, row.next());
        }
        if (kafka.equals(committed)) {
            return new LastTransaction(row.next() == null ? Outcome.CONFIRMED : Outcome.NOT_COMMITTED, row.position());
        }
        throw new RelayException(
                ExitCode.DELIVERY,
                "Kafka has committed number " + kafka + " of relay \"" + relay
                        + "\", which its database does not know (it has "
                        + committed + (row.next() == null ? "" : " and " + row.number())
                        + "): the database has lost commits, as after a restore or a fail-over that was not "
                        + "synchronous, or this is another Kafka cluster." + REMEDY);
    }
}
