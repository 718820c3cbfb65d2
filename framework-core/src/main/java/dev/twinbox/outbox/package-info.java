/** Writing: from a published event to its row in the transaction's outbox. */
@NullMarked
package dev.twinbox.outbox;

import org.jspecify.annotations.NullMarked;
