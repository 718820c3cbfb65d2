/** Writing: from a published event to its outbox row. */
@NullMarked
package dev.twinbox.outbox;

import org.jspecify.annotations.NullMarked;
