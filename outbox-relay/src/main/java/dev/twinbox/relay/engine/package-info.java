/** Moves rows of the outbox to Kafka until it is stopped. */
@NullMarked
package dev.twinbox.relay.engine;

import org.jspecify.annotations.NullMarked;
