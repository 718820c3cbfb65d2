/** The log of the relay: one calm line per event. */
@NullMarked
package dev.twinbox.relay.log;

import org.jspecify.annotations.NullMarked;
