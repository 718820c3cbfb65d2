package dev.twinbox.inbox;

import dev.twinbox.tracing.Tracing;
import jakarta.transaction.TransactionSynchronizationRegistry;
import javax.sql.DataSource;

/**
 * What it takes to handle events of one consumer group in transactions.
 *
 * @param group consumer group, part of each claim
 * @param transaction begins and ends transactions
 * @param registry tells how they ended
 * @param dataSource takes part in them
 * @param table where events are claimed
 * @param parking where events go that can not be handled
 * @param status counts
 * @param tracing tells of each call of a handler
 */
record Workshop(
        String group,
        NewTransaction transaction,
        TransactionSynchronizationRegistry registry,
        DataSource dataSource,
        InboxTable table,
        Parking parking,
        InboxStatus status,
        Tracing tracing) {

    /** For events from Kafka that are not begun one by one. */
    Claims claims() {
        return new Claims.FromKafka(table, parking.table(), group, null);
    }
}
