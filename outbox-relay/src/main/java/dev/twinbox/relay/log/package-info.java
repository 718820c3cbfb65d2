/** The log of the relay: one line per event, few lines during outages. */
@NullMarked
package dev.twinbox.relay.log;

import org.jspecify.annotations.NullMarked;
