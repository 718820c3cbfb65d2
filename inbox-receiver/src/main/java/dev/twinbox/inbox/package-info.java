/**
 * The receiver. It turns Kafka records into calls of {@code @InboxHandler} methods, each with its effect in one
 * transaction.
 */
@NullMarked
package dev.twinbox.inbox;

import org.jspecify.annotations.NullMarked;
