/** What a record from Kafka is: its event, the handlers that take it, and what is wrong with it. */
@NullMarked
package dev.twinbox.inbox.event;

import org.jspecify.annotations.NullMarked;
