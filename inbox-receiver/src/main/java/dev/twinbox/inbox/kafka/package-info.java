/** What Kafka says about topics and offsets, and what is remembered of it. */
@NullMarked
package dev.twinbox.inbox.kafka;

import org.jspecify.annotations.NullMarked;
