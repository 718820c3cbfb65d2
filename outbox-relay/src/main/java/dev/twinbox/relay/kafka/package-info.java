/** What Kafka says of topics and refusals, and what it needs from its clients. */
@NullMarked
package dev.twinbox.relay.kafka;

import org.jspecify.annotations.NullMarked;
