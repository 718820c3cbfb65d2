package dev.twinbox.outbox;

import dev.twinbox.schema.OutboxSchema;

/**
 * The configuration of writing, checked as a whole by {@link OutboxSettings}.
 *
 * @param dataSource JNDI name of the JTA data source
 * @param source CloudEvents {@code source} of all events
 * @param schema names of the tables
 * @param maxPayloadBytes largest payload of one event
 * @param maxEventsPerTransaction most events of one transaction
 * @param maxBytesPerTransaction most bytes of one transaction's events together
 */
record OutboxConfiguration(
        String dataSource,
        String source,
        OutboxSchema schema,
        int maxPayloadBytes,
        int maxEventsPerTransaction,
        long maxBytesPerTransaction) {}
