/**
 * Polls, hands events to handlers, commits, parks and retries, until it is asked to stop.
 *
 * <p>Read it in the order in which an event passes:
 *
 * <ol>
 *   <li>{@link dev.twinbox.inbox.engine.Receiver} starts {@code ReceiverThreads}.
 *   <li>{@code PollLoop} runs {@code GroupMember}, which polls. {@code PartitionHandover} follows the rebalances.
 *       {@code TopicIdentity} notices that a topic was created anew.
 *   <li>{@code AssignedPartition} deals events to {@code Lane}s. {@code BatchDispatch} hands a {@code Batch} to a
 *       worker.
 *   <li>{@code Processor} handles it: {@code TransactionalProcessor} by an {@code Attempt}, or {@code
 *       AtMostOnceProcessor}. {@code Claims} skips duplicates, {@code HandlerCalls} calls handlers.
 *   <li>{@code OffsetLedger} knows up to which offset all is settled. {@code OffsetCommits} commits it.
 *   <li>{@code Parking} parks what fails, {@code RetryLoop} and {@code ParkedRetries} retry it.
 *   <li>{@code RetentionLoop} deletes old inbox rows.
 * </ol>
 */
@NullMarked
package dev.twinbox.inbox.engine;

import org.jspecify.annotations.NullMarked;
