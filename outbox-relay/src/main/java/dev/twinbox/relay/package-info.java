/** The relay process: moves committed rows of the outbox table to Kafka, in order. */
@NullMarked
package dev.twinbox.relay;

import org.jspecify.annotations.NullMarked;
