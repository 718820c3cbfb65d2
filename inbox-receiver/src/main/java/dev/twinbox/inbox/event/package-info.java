/** A record from Kafka as an event: its content, the handlers that take it, and what is wrong with it. */
@NullMarked
package dev.twinbox.inbox.event;

import org.jspecify.annotations.NullMarked;
