/** What an operator has paused while the receiver runs: topics and handlers. */
@NullMarked
package dev.twinbox.inbox.pause;

import org.jspecify.annotations.NullMarked;
