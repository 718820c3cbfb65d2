/** Moves rows of the outbox to Kafka until told to stop. */
@NullMarked
package dev.twinbox.relay.engine;

import org.jspecify.annotations.NullMarked;
