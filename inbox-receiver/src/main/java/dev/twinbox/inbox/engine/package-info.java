/** Polls, hands events to handlers, commits, parks and retries, until it is asked to stop. */
@NullMarked
package dev.twinbox.inbox.engine;

import org.jspecify.annotations.NullMarked;
