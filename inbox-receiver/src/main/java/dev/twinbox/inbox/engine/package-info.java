/** Polls, hands events to handlers, commits, parks and retries, until it is told to stop. */
@NullMarked
package dev.twinbox.inbox.engine;

import org.jspecify.annotations.NullMarked;
