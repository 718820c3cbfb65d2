/**
 * Moves rows of the outbox to Kafka until it is stopped.
 *
 * <p>Read it in the order in which a row passes:
 *
 * <ol>
 *   <li>{@link dev.twinbox.relay.engine.Relay} holds the lease by a {@code Lease} and runs one {@code RelaySession}
 *       after the other.
 *   <li>{@code PageReader} reads a {@code Page} of the {@code Window}.
 *   <li>{@code Sender} takes it. {@code AcceptanceCheck}, {@code BlockedKeys}, {@code KnownOutcomes} and {@link
 *       dev.twinbox.relay.pause.PausedTopics} say which of its records are parked. {@code ProducerCalls} hands the
 *       others to the producer.
 *   <li>{@code InFlight} knows which pages are acknowledged. {@code Publication} saves the position after them:
 *       {@code AtLeastOnce}, or {@code ExactlyOnce} with {@code TransactionalPages}.
 *   <li>{@code RetryLoop} sends parked events again. {@code Housekeeper} empties slots and moves scheduled events.
 *   <li>{@code Failures} ends the session. {@code Relay} recovers from it.
 * </ol>
 */
@NullMarked
package dev.twinbox.relay.engine;

import org.jspecify.annotations.NullMarked;
