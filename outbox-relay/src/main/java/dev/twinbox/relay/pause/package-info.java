/** What an operator has paused, while the relay runs: all of it, or topics. */
@NullMarked
package dev.twinbox.relay.pause;

import org.jspecify.annotations.NullMarked;
